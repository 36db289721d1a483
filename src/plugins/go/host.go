// A program that opens a genuine Go plugin (-buildmode=plugin) and speaks for it in frames, as `rustomize __plugin-host` does for
// shared objects with the functions of rustomize_plugin.h. `rustomize plugin adopt` builds it with exactly the versions and flags that the
// plugin was built with: Go opens no other.

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"plugin"
	"syscall"
)

// rzNotOpened is the kind of a first frame that says why there will be no other.
const rzNotOpened = 5

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "Error: this is for rustomize, which starts it with the path of a Go plugin")
		os.Exit(1)
	}
	if err := rzServe(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "Error: the process of the plugin:", err)
		os.Exit(1)
	}
}

// rzServe answers the frames on stdin until it ends.
func rzServe(path string) error {
	// The plugin prints where it wants: not into our frames.
	input, err := rzPrivate(0, "requests")
	if err != nil {
		return err
	}
	output, err := rzPrivate(1, "answers")
	if err != nil {
		return err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	if err := syscall.Dup3(int(null.Fd()), 0, 0); err != nil {
		return err
	}
	if err := syscall.Dup3(2, 1, 0); err != nil {
		return err
	}
	requests := make(chan []byte, 1)
	go rzReceive(bufio.NewReader(input), requests)
	opened, err := plugin.Open(path)
	if err != nil {
		return rzAnswer(output, rzNotOpened, "cannot be opened: "+err.Error())
	}
	symbol, err := opened.Lookup("KustomizePlugin")
	if err != nil {
		return rzAnswer(output, rzNotOpened, "does not export 'KustomizePlugin'")
	}
	if err := rzAnswer(output, rzOK, rzDescribe(symbol)); err != nil {
		return err
	}
	for frame := range requests {
		request, err := rzParse(frame)
		if err != nil {
			return err
		}
		if err := os.Chdir(request.root); err != nil {
			return err
		}
		status, text := rzRun(symbol, request)
		if err := rzAnswer(output, byte(status), text); err != nil {
			return err
		}
	}
	return nil
}

// rzPrivate moves a descriptor to where neither the plugin nor what it starts finds it by its number.
func rzPrivate(descriptor int, name string) (*os.File, error) {
	moved, err := syscall.Dup(descriptor)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(moved)
	return os.NewFile(uintptr(moved), name), nil
}

// rzReceive reads frames: one byte for the mode, 8 bytes for the length, lowest first, the content. When stdin ends, so does the process
// group: a plugin that never returns does not outlive who asked it.
func rzReceive(input io.Reader, requests chan<- []byte) {
	for {
		head := make([]byte, 9)
		if _, err := io.ReadFull(input, head); err != nil {
			break
		}
		frame := make([]byte, 1+binary.LittleEndian.Uint64(head[1:]))
		frame[0] = head[0]
		if _, err := io.ReadFull(input, frame[1:]); err != nil {
			break
		}
		requests <- frame
	}
	_ = syscall.Kill(-syscall.Getpid(), syscall.SIGKILL)
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
}

func rzParse(frame []byte) (rzRequest, error) {
	request := rzRequest{mode: uint32(frame[0])}
	rest := frame[1:]
	for _, text := range []*string{&request.config, &request.root, &request.resources, &request.options} {
		if len(rest) < 8 || uint64(len(rest)-8) < binary.LittleEndian.Uint64(rest) {
			return request, io.ErrUnexpectedEOF
		}
		end := 8 + binary.LittleEndian.Uint64(rest)
		*text, rest = string(rest[8:end]), rest[end:]
	}
	return request, nil
}

func rzAnswer(output io.Writer, kind byte, text string) error {
	frame := make([]byte, 9, 9+len(text))
	frame[0] = kind
	binary.LittleEndian.PutUint64(frame[1:], uint64(len(text)))
	_, err := output.Write(append(frame, text...))
	return err
}
