package core

import (
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
)

// memory is the linear memory of an instance, up to a limit in bytes. Its addresses are reserved
// where the system can do so: it then grows without a copy, and goes back to the system at the end.
type memory struct {
	bytes []byte
	limit uint64
	// Gives reserved addresses back; nil if there are none.
	release func()
	// The size, for other goroutines.
	size atomic.Uint64
	// True once the program is to end: it gets no more memory.
	closed atomic.Bool
}

func (m *memory) Allocate(capacity, _ uint64) experimental.LinearMemory {
	if m.bytes, m.release = reserve(m.limit); m.bytes == nil {
		m.bytes = make([]byte, 0, min(capacity, m.limit))
	}
	return m
}

// Reallocate returns nil above the limit: the program then ends for lack of memory.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.limit || m.closed.Load() {
		return nil
	}
	if size > uint64(cap(m.bytes)) {
		grown := make([]byte, size, min(max(size, 2*uint64(cap(m.bytes))), m.limit))
		copy(grown, m.bytes)
		m.bytes = grown
	}
	m.bytes = m.bytes[:size]
	m.size.Store(size)
	return m.bytes
}

func (m *memory) Free() {
	m.bytes = nil
	if m.release != nil {
		m.release()
		m.release = nil
	}
}
