// Package core runs the core: rustomize's engine as a WebAssembly program. See the documentation of
// the crate rustomize-core for its messages.
//
//   - Program: the compiled program, one for each process.
//   - Instance: a running program, which answers one job at a time.
//   - Pool: the instances that wait for a job.
package core

import (
	"context"
	_ "embed"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// The program, which bindings/go/build makes.
//
//go:embed rustomize-core.wasm
var wasm []byte

// Program is the compiled program.
type Program struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

// Mode is the way in which the program is compiled.
type Mode int

const (
	// Fast ends a build early only where it asks its host or takes memory.
	Fast Mode = iota
	// Interruptible ends a build at once: each loop asks whether to go on, which makes builds some
	// four times as slow.
	Interruptible
)

var shared struct {
	sync.Mutex
	// By mode.
	programs [2]*Program
	// Keeps compiled code.
	directory string
}

// Load compiles the program, once for each process and mode. A directory keeps the compiled code
// for the next process; without one ("") that of an earlier call counts, and if there is none,
// nothing is written.
func Load(directory string, mode Mode) (*Program, error) {
	shared.Lock()
	defer shared.Unlock()
	if program := shared.programs[mode]; program != nil {
		return program, nil
	}
	if directory == "" {
		directory = shared.directory
	}
	shared.directory = directory
	program, err := load(directory, mode)
	if err == nil {
		shared.programs[mode] = program
	}
	return program, err
}

func load(directory string, mode Mode) (*Program, error) {
	// The program is the process's own: no build may end it.
	ctx := context.Background()
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(mode == Interruptible)
	if directory != "" {
		cache, err := wazero.NewCompilationCacheWithDir(directory)
		if err != nil {
			return nil, fmt.Errorf("the directory for compiled code: %w", err)
		}
		config = config.WithCompilationCache(cache)
	}
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, runtime); err != nil {
		return nil, fmt.Errorf("the interface of the core: %w", err)
	}
	module, err := runtime.CompileModule(ctx, wasm)
	if err != nil {
		return nil, fmt.Errorf("the core does not compile: %w", err)
	}
	return &Program{runtime, module}, nil
}

// least is the number of bytes that the program begins with.
func (p *Program) least() uint64 {
	var least uint64
	for _, memory := range p.module.ExportedMemories() {
		least = max(least, uint64(memory.Min())<<16)
	}
	return least
}
