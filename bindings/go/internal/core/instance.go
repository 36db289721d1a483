package core

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Host answers the questions of a build. It is called on one goroutine at a time.
type Host interface {
	// Answer returns the answer to a question, or an error, which may be a Refusal.
	Answer(kind byte, payload []byte) ([]byte, error)
}

// Refusal is an answer that is an error, with the letter of its kind and the place of its path.
type Refusal struct {
	Letter byte
	Place  string
	Err    error
}

func (r *Refusal) Error() string { return r.Err.Error() }
func (r *Refusal) Unwrap() error { return r.Err }

// Job is a request, and the host that answers its questions.
type Job struct {
	Host    Host
	Request []byte
	// The output, once the job is done.
	Output []byte
	// The last message, once the job is done.
	End []byte
}

// Ended is the error about a program that ended in a job: by a panic, or for lack of memory.
type Ended struct {
	// What the program wrote to stderr.
	Message string
	Err     error
}

func (e *Ended) Error() string {
	if e.Message != "" {
		return e.Message
	}
	return e.Err.Error()
}

func (e *Ended) Unwrap() error { return e.Err }

// Instance is a running program, which answers one job at a time. It has no goroutine of its own: a
// job runs on the goroutine of its caller, because a hand-over costs as much as a third of a small
// build.
type Instance struct {
	program *Program
	memory  memory
	stderr  tail
	module  api.Module
	// The main function, which answers the job that waits; nil before the first job.
	main api.Function
	// Closed once the program has ended after an interrupt, with its error.
	ended chan struct{}
	err   error

	job *Job
	// What the program has not read yet of a message: length and kind, in this space, and payload.
	space   [5]byte
	head    []byte
	payload []byte
	// What the program has written of a message, and how much of it is to come.
	frame   []byte
	missing int
}

// ErrMemory is the error about a limit of memory that does not let the program begin.
var ErrMemory = errors.New("the limit of memory is below what the engine needs")

// start makes an instance that may use so many bytes of memory. Its program begins with the first
// job.
func (p *Program) start(limit uint64) *Instance {
	return &Instance{program: p, memory: memory{limit: limit}, ended: make(chan struct{})}
}

// Do answers a job. After an error the instance is of no use, and gives its memory back.
func (i *Instance) Do(ctx context.Context, job *Job) error {
	if ctx.Done() == nil {
		return i.answer(job)
	}
	done := make(chan error, 1)
	go func() { done <- i.answer(job) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		// What is left of the job ends in its next loop. A host that blocks cannot be stopped.
		i.memory.interrupt()
		go func() {
			i.err = <-done
			i.close()
			close(i.ended)
		}()
		return context.Cause(ctx)
	}
}

// close ends the program and gives its memory back.
func (i *Instance) close() {
	if i.module != nil {
		_ = i.module.Close(context.Background())
		i.module = nil
	}
}

// answer runs the program until it has answered a job. An error is a trap, or an exit status; the
// program is closed then.
func (i *Instance) answer(job *Job) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("the core cannot run: %v", value)
		}
		if err != nil {
			i.close()
			err = &Ended{Message: i.stderr.text(), Err: err}
		}
	}()
	i.job = job
	i.send('R', job.Request)
	if i.main == nil {
		err = i.begin()
	} else {
		_, err = i.main.Call(context.Background())
	}
	if err == nil && i.job != nil {
		err = errors.New("the core has not answered")
	}
	return err
}

// begin starts the program, which answers the job that waits.
func (i *Instance) begin() error {
	if least := i.program.least(); i.memory.limit < least {
		return ErrMemory
	}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions().WithStdin(i).WithStdout(i).WithStderr(&i.stderr)
	ctx := experimental.WithMemoryAllocator(context.Background(), &i.memory)
	module, err := i.program.runtime.InstantiateModule(ctx, i.program.module, config)
	if err != nil {
		return err
	}
	i.module = module
	flag := module.ExportedGlobal("interrupt")
	if flag == nil {
		return errors.New("the core cannot be interrupted: bindings/go/build makes one that can be")
	}
	i.memory.found(flag.Get())
	// The first call prepares the program's own memory, too.
	if _, err := module.ExportedFunction("_start").Call(ctx); err != nil {
		return err
	}
	i.main = module.ExportedFunction("__main_void")
	return nil
}

// Read gives the program the message that waits. Without one its input ends: it has answered.
func (i *Instance) Read(into []byte) (int, error) {
	if len(i.head)+len(i.payload) == 0 {
		return 0, io.EOF
	}
	n := copy(into, i.head)
	i.head = i.head[n:]
	m := copy(into[n:], i.payload)
	if i.payload = i.payload[m:]; len(i.payload) == 0 {
		// The content of a file is let go as soon as the program has it.
		i.payload = nil
	}
	return n + m, nil
}

// send makes a message the next one that the program reads, without a copy of its payload.
func (i *Instance) send(kind byte, payload []byte) {
	i.head = binary.LittleEndian.AppendUint32(i.space[:0], uint32(len(payload)+1))
	i.head = append(i.head, kind)
	i.payload = payload
}

// Write takes messages of the program, in pieces of any size.
func (i *Instance) Write(from []byte) (int, error) {
	total := len(from)
	for len(from) > 0 {
		if i.missing == 0 {
			n := min(5-len(i.frame), len(from))
			i.frame = append(i.frame, from[:n]...)
			from = from[n:]
			if len(i.frame) < 5 {
				break
			}
			i.missing = int(binary.LittleEndian.Uint32(i.frame)) - 1
		}
		n := min(i.missing, len(from))
		if i.frame[4] == 'y' && i.job != nil {
			i.job.Output = append(i.job.Output, from[:n]...)
		} else {
			i.frame = append(i.frame, from[:n]...)
		}
		from = from[n:]
		i.missing -= n
		if i.missing == 0 {
			i.take(i.frame[4], i.frame[5:])
			i.frame = i.frame[:0]
		}
	}
	return total, nil
}

// take handles a message of the program.
func (i *Instance) take(kind byte, payload []byte) {
	switch job := i.job; {
	case job == nil || kind == 'y':
	case kind == '.':
		job.End = bytes.Clone(payload)
		i.job = nil
	default:
		answer, err := asked(job.Host, kind, payload)
		if err == nil && uint64(len(answer)) >= i.memory.limit {
			err = fmt.Errorf("%d bytes are more than the limit of memory", len(answer))
		}
		if err == nil {
			i.send('+', answer)
			return
		}
		refusal := &Refusal{Letter: 'o', Err: err}
		_ = errors.As(err, &refusal)
		i.send('-', fmt.Appendf(nil, "%c%s\x00%s", refusal.Letter, refusal.Place, err))
	}
}

// Panicked is the error about a host that panics.
type Panicked struct {
	Value any
	Stack []byte
}

func (p *Panicked) Error() string { return fmt.Sprintf("the file system panicked: %v", p.Value) }

// asked asks the host. A panic of the host is an error: it must not end the goroutine of the
// program.
func asked(host Host, kind byte, payload []byte) (answer []byte, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &Panicked{value, debug.Stack()}
			if teller, ok := host.(interface{ Failed(error) }); ok {
				teller.Failed(err)
			}
		}
	}()
	return host.Answer(kind, payload)
}

// tail keeps the beginning of what a program writes to stderr.
type tail struct{ kept []byte }

func (t *tail) Write(from []byte) (int, error) {
	t.kept = append(t.kept, from[:min(len(from), 16<<10-len(t.kept))]...)
	return len(from), nil
}

func (t *tail) text() string { return string(bytes.TrimSpace(t.kept)) }
