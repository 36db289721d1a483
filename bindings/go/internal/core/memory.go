package core

import (
	"sync"
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
)

// memory is the linear memory of an instance, up to a limit in bytes. Its addresses are reserved
// where the system can do so: it then grows without a copy, and goes back to the system at the end.
type memory struct {
	limit uint64
	// Held while bytes and closed change, and while the flag is set.
	mutex sync.Mutex
	bytes []byte
	// True once the program is to end: it gets no more memory.
	closed bool
	// The address of the byte that ends the program; 0 as long as it is not known.
	flag uint64
	// Gives reserved addresses back; nil if there are none.
	release func()
	// The size, for other goroutines.
	size atomic.Uint64
}

func (m *memory) Allocate(capacity, _ uint64) experimental.LinearMemory {
	if m.bytes, m.release = reserve(m.limit); m.bytes == nil {
		m.bytes = make([]byte, 0, min(capacity, m.limit))
	}
	return m
}

// Reallocate returns nil above the limit: the program then ends for lack of memory.
func (m *memory) Reallocate(size uint64) []byte {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if size > m.limit || m.closed {
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

// interrupt ends the program at its next look at the flag. No code in Go reads that byte, and no
// other goroutine moves or frees the memory meanwhile.
func (m *memory) interrupt() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.closed = true
	if m.flag != 0 && m.flag < uint64(len(m.bytes)) {
		m.bytes[m.flag] = 1
	}
}

// found notes the address of the flag.
func (m *memory) found(flag uint64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.flag = flag
}

func (m *memory) Free() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.bytes = nil
	if m.release != nil {
		m.release()
		m.release = nil
	}
}
