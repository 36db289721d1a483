package core

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// An instance whose memory has grown beyond this is not kept: a program cannot shrink its memory.
const keptMemory = 64 << 20

// How long an instance waits for its next job before it gives its memory back.
const idle = 10 * time.Second

// Pool has the instances that wait for a job.
type Pool struct {
	mutex sync.Mutex
	// The one that has waited longest first.
	idle []waiting
	// True while a timer looks after those that wait.
	watched bool
}

// waiting is an instance that waits for a job.
type waiting struct {
	*Instance
	since time.Time
}

// Instances is the pool of the process.
var Instances Pool

// Do answers a job by an instance that waits, or by a new one. The instance may use this many bytes
// of memory.
func (p *Pool) Do(ctx context.Context, program *Program, limit uint64, job *Job) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	instance := p.take(program, limit)
	if instance == nil {
		instance = program.start(limit)
	}
	if err := instance.Do(ctx, job); err != nil {
		return err
	}
	if instance.memory.size.Load() > keptMemory {
		instance.close()
	} else {
		p.put(instance)
	}
	return nil
}

// take returns an instance of the program with this limit that waits, the last one first.
func (p *Pool) take(program *Program, limit uint64) *Instance {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for k := len(p.idle) - 1; k >= 0; k-- {
		if instance := p.idle[k].Instance; instance.program == program && instance.memory.limit == limit {
			p.idle = slices.Delete(p.idle, k, k+1)
			return instance
		}
	}
	return nil
}

// put keeps an instance; the oldest one ends if there are more than cores.
func (p *Pool) put(instance *Instance) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.idle = append(p.idle, waiting{instance, time.Now()})
	if len(p.idle) > runtime.GOMAXPROCS(0) {
		p.end(1)
	}
	if !p.watched {
		p.watched = true
		time.AfterFunc(idle, p.watch)
	}
}

// end ends the instances that have waited longest.
func (p *Pool) end(count int) {
	for _, one := range p.idle[:count] {
		one.close()
	}
	p.idle = slices.Delete(p.idle, 0, count)
}

// watch ends the instances that have waited too long, and comes back for the others.
func (p *Pool) watch() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	count := 0
	for count < len(p.idle) && time.Since(p.idle[count].since) >= idle {
		count++
	}
	p.end(count)
	if p.watched = len(p.idle) > 0; p.watched {
		time.AfterFunc(idle-time.Since(p.idle[0].since), p.watch)
	}
}
