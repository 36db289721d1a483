//go:build !unix

package core

// reserve returns nil: addresses are not reserved on this system.
func reserve(uint64) ([]byte, func()) { return nil, nil }
