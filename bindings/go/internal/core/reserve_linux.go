package core

import "golang.org/x/sys/unix"

// Pages count when they are written to.
const noReserve = unix.MAP_NORESERVE
