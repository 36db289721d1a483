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
	"runtime"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
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

var shared struct {
	sync.Mutex
	program *Program
}

// Load compiles the program, once for each process. A directory keeps the compiled code for the next
// process; without one ("") nothing is written.
func Load(directory string) (*Program, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.program != nil {
		return shared.program, nil
	}
	program, err := load(directory)
	if err == nil {
		shared.program = program
	}
	return program, err
}

func load(directory string) (*Program, error) {
	// The program is the process's own: no build may end it.
	ctx := context.Background()
	config := wazero.NewRuntimeConfig()
	if directory != "" {
		cache, err := wazero.NewCompilationCacheWithDir(directory)
		if err != nil {
			return nil, fmt.Errorf("the directory for compiled code: %w", err)
		}
		config = config.WithCompilationCache(cache)
	}
	engine := wazero.NewRuntimeWithConfig(ctx, config)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, engine); err != nil {
		return nil, fmt.Errorf("the interface of the core: %w", err)
	}
	workers := experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
	module, err := engine.CompileModule(workers, wasm)
	if err != nil {
		return nil, fmt.Errorf("the core does not compile: %w", err)
	}
	return &Program{engine, module}, nil
}

// least is the number of bytes that the program begins with.
func (p *Program) least() uint64 {
	var least uint64
	for _, memory := range p.module.ExportedMemories() {
		least = max(least, uint64(memory.Min())<<16)
	}
	return least
}
