//go:build unix

package core

import "golang.org/x/sys/unix"

// reserve returns an empty slice with this capacity, whose pages are taken when they are written
// to, and a function that gives it back; nil if the system refuses.
func reserve(limit uint64) ([]byte, func()) {
	if limit == 0 || limit > 1<<40 {
		return nil, nil
	}
	pages, err := unix.Mmap(-1, 0, int(limit), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|noReserve)
	if err != nil {
		return nil, nil
	}
	return pages[:0], func() { _ = unix.Munmap(pages) }
}
