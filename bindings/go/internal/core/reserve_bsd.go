//go:build unix && !linux

package core

const noReserve = 0
