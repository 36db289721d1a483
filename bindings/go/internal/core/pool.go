package core

import (
	"context"
	"runtime"
	"sync"
)

// An instance whose memory has grown beyond this is not kept: a program cannot shrink its memory.
const keptMemory = 64 << 20

// Pool has the instances that wait for a job.
type Pool struct {
	mutex sync.Mutex
	idle  []*Instance
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
	err := instance.Do(ctx, job)
	if err == errGone {
		// It has waited too long.
		instance = program.start(limit)
		err = instance.Do(ctx, job)
	}
	if err != nil || instance.memory.size.Load() > keptMemory {
		instance.cancel()
		return err
	}
	p.put(instance)
	return nil
}

// take returns an instance of the program with this limit that waits, the last one first.
func (p *Pool) take(program *Program, limit uint64) *Instance {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for k := len(p.idle) - 1; k >= 0; k-- {
		instance := p.idle[k]
		select {
		case <-instance.ended:
			p.remove(k)
			continue
		default:
		}
		if instance.program == program && instance.memory.limit == limit {
			p.remove(k)
			return instance
		}
	}
	return nil
}

func (p *Pool) remove(k int) {
	p.idle = append(p.idle[:k], p.idle[k+1:]...)
}

// put keeps an instance; the oldest one ends if there are more than cores.
func (p *Pool) put(instance *Instance) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.idle = append(p.idle, instance)
	if len(p.idle) > runtime.GOMAXPROCS(0) {
		p.idle[0].cancel()
		p.remove(0)
	}
}
