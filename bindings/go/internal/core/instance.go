package core

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"
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
	End  []byte
	done chan struct{}
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

// How long an instance waits for its next job before it gives its memory back.
const idle = 10 * time.Second

// Instance is a running program. It reads messages from Read, and writes messages to Write.
type Instance struct {
	program *Program
	jobs    chan *Job
	cancel  context.CancelFunc
	ended   chan struct{}
	err     error
	memory  memory
	stderr  tail

	// For the goroutine of the program alone.
	ctx     context.Context
	job     *Job
	pending []byte
	frame   []byte
	missing int
}

// ErrMemory is the error about a limit of memory that does not let the program begin.
var ErrMemory = errors.New("the limit of memory is below what the engine needs")

// The error about an instance that ended before it took the job.
var errGone = errors.New("the core has ended")

// start runs the program, up to its limit of memory in bytes.
func (p *Program) start(limit uint64) *Instance {
	ctx, cancel := context.WithCancel(context.Background())
	i := &Instance{
		program: p, jobs: make(chan *Job), cancel: cancel, ended: make(chan struct{}), memory: memory{limit: limit}, ctx: ctx,
	}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions().WithStdin(i).WithStdout(i).WithStderr(&i.stderr)
	go func() {
		defer close(i.ended)
		defer cancel()
		defer func() {
			if value := recover(); value != nil {
				i.err = &Ended{Message: i.stderr.text(), Err: fmt.Errorf("the core cannot run: %v", value)}
			}
		}()
		if least := p.least(); limit < least {
			i.err = &Ended{Err: ErrMemory}
			return
		}
		err := i.run(experimental.WithMemoryAllocator(ctx, &i.memory), config)
		if err == nil {
			err = errGone
		}
		i.err = &Ended{Message: i.stderr.text(), Err: err}
	}()
	return i
}

// run runs the program to its end. An error is a trap, or an exit status.
func (i *Instance) run(ctx context.Context, config wazero.ModuleConfig) error {
	module, err := i.program.runtime.InstantiateModule(ctx, i.program.module, config)
	if err != nil {
		return err
	}
	defer module.Close(context.Background())
	flag := module.ExportedGlobal("interrupt")
	if flag == nil {
		return errors.New("the core cannot be interrupted: bindings/go/build makes one that can be")
	}
	i.memory.found(flag.Get())
	_, err = module.ExportedFunction("_start").Call(ctx)
	var exit *sys.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 0 {
		return nil
	}
	return err
}

// Do answers a job. After an error the instance is of no use.
func (i *Instance) Do(ctx context.Context, job *Job) error {
	job.done = make(chan struct{})
	select {
	case i.jobs <- job:
	case <-i.ended:
		if errors.Is(i.err, errGone) {
			return errGone
		}
		return i.err
	case <-ctx.Done():
		i.memory.interrupt()
		i.cancel()
		return context.Cause(ctx)
	}
	select {
	case <-job.done:
		return nil
	case <-i.ended:
		return i.err
	case <-ctx.Done():
		// What is left of the job ends in its next loop. A host that blocks cannot be stopped.
		i.memory.interrupt()
		i.cancel()
		return context.Cause(ctx)
	}
}

// Read gives the program its next message, and waits for a job if there is none.
func (i *Instance) Read(into []byte) (int, error) {
	if len(i.pending) == 0 {
		timer := time.NewTimer(idle)
		defer timer.Stop()
		select {
		case job := <-i.jobs:
			i.job = job
			i.send('R', job.Request)
		case <-timer.C:
			return 0, io.EOF
		case <-i.ctx.Done():
			return 0, io.EOF
		}
	}
	n := copy(into, i.pending)
	i.pending = i.pending[n:]
	return n, nil
}

// send makes a message the next one that the program reads.
func (i *Instance) send(kind byte, payload ...[]byte) {
	length := 1
	for _, part := range payload {
		length += len(part)
	}
	message := make([]byte, 5, 4+length)
	binary.LittleEndian.PutUint32(message, uint32(length))
	message[4] = kind
	for _, part := range payload {
		message = append(message, part...)
	}
	i.pending = message
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
		close(job.done)
	default:
		answer, err := answer(job.Host, kind, payload)
		if err == nil && uint64(len(answer)) >= i.memory.limit {
			err = fmt.Errorf("%d bytes are more than the limit of memory", len(answer))
		}
		if err == nil {
			i.send('+', answer)
			return
		}
		refusal := &Refusal{Letter: 'o', Err: err}
		_ = errors.As(err, &refusal)
		i.send('-', []byte{refusal.Letter}, []byte(refusal.Place), []byte{0}, []byte(err.Error()))
	}
}

// Panicked is the error about a host that panics.
type Panicked struct {
	Value any
	Stack []byte
}

func (p *Panicked) Error() string { return fmt.Sprintf("the file system panicked: %v", p.Value) }

// answer asks the host. A panic of the host is an error: it must not end the goroutine of the
// program.
func answer(host Host, kind byte, payload []byte) (answer []byte, err error) {
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
