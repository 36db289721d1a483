package krusty

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/OWNER/rustomize/bindings/go/internal/core"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// host answers the questions of one build from the caller's file system.
type host struct {
	ctx    context.Context
	fSys   filesys.FileSystem
	client *http.Client
	// The largest file that is fetched.
	fileSize uint64
	mutex    sync.Mutex
	// Errors of the file system that are not about a missing file, and of fetches.
	failed []error
	// Directories of clones.
	clones []string
	closed bool
}

func newHost(ctx context.Context, fSys filesys.FileSystem, settings settings) *host {
	h := &host{ctx: ctx, fSys: fSys, client: settings.client, fileSize: settings.fileSize}
	if h.client == nil {
		h.client = &http.Client{}
	}
	if h.fileSize == 0 || h.fileSize > 1<<40 {
		h.fileSize = usualFileSize
	}
	return h
}

// close removes the clones.
func (h *host) close() {
	h.mutex.Lock()
	clones := h.clones
	h.clones, h.closed = nil, true
	h.mutex.Unlock()
	for _, directory := range clones {
		_ = os.RemoveAll(directory)
	}
}

// failures are the errors so far.
func (h *host) failures() []error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return append([]error(nil), h.failed...)
}

// The largest number of errors that are kept.
const mostFailures = 20

// Failed keeps an error for the caller of the build.
func (h *host) Failed(err error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if len(h.failed) < mostFailures {
		h.failed = append(h.failed, err)
	}
}

// Answer answers a question of the core.
func (h *host) Answer(kind byte, payload []byte) ([]byte, error) {
	if err := h.ctx.Err(); err != nil {
		return nil, err
	}
	text := string(payload)
	switch kind {
	case 'd', 'D':
		directory, file, err := h.cleaned(text)
		if err == nil && file != "" {
			err = &core.Refusal{Letter: 'f', Place: filepath.Join(directory, file), Err: fmt.Errorf("'%s' is a file", text)}
		}
		return []byte(directory), err
	case 'o', 'O':
		directory, file, err := h.cleaned(text)
		if err == nil && file == "" {
			err = &core.Refusal{Letter: 'd', Place: directory, Err: fmt.Errorf("'%s' is a directory", text)}
		}
		return []byte(filepath.Join(directory, file)), err
	case 'r', 'R':
		content, err := h.fSys.ReadFile(text)
		if err != nil {
			return nil, h.refused(err)
		}
		return content, nil
	case 'l', 'L':
		return h.list(text)
	case 'g':
		return h.clone(payload)
	case 'h':
		return h.fetch(text)
	}
	return nil, fmt.Errorf("a question of kind '%c' is not known", kind)
}

// cleaned is the place of a path: the directory, and the name of a file in it.
func (h *host) cleaned(path string) (string, string, error) {
	if filepath.IsAbs(path) {
		// As kustomize joins paths: file systems in memory know no '..'.
		path = filepath.Clean(path)
	}
	directory, file, err := h.fSys.CleanedAbs(path)
	if err != nil {
		return "", "", h.refused(err)
	}
	place := filepath.ToSlash(string(directory))
	if !strings.HasPrefix(place, "/") {
		// kustomize's file system in memory may have relative places, and reads absolute ones, too.
		place = "/" + strings.TrimPrefix(place, ".")
	}
	return place, file, nil
}

// refused is the answer to a question about a path that the file system refuses.
func (h *host) refused(err error) error {
	letter := byte('o')
	switch {
	case errors.Is(err, fs.ErrNotExist), strings.HasSuffix(err.Error(), "' is not a directory"):
		// The second is what kustomize's file system in memory says of a path below a file.
		letter = 'n'
	case errors.Is(err, syscall.ENOTDIR):
		letter = 'n'
	case errors.Is(err, fs.ErrPermission):
		letter = 'p'
	case errors.Is(err, syscall.EISDIR):
		letter = 'd'
	}
	if letter != 'n' {
		h.Failed(err)
	}
	return &core.Refusal{Letter: letter, Err: err}
}

// list is the entries of a directory.
func (h *host) list(directory string) ([]byte, error) {
	names, err := h.fSys.ReadDir(directory)
	if err != nil {
		return nil, &core.Refusal{Letter: 'o', Err: err}
	}
	var entries []byte
	for _, name := range names {
		letter := byte('f')
		if h.fSys.IsDir(filepath.Join(directory, name)) {
			letter = 'd'
		}
		entries = append(entries, letter)
		entries = append(entries, name...)
		entries = append(entries, 0)
	}
	return entries, nil
}

// repository is a repository that a kustomization names.
type repository struct {
	URL        string `json:"url"`
	Ref        string `json:"ref"`
	Submodules bool   `json:"submodules"`
	// In milliseconds.
	Timeout int64 `json:"timeout"`
}

// clone clones a repository into a directory of its own, with the commands of kustomize.
func (h *host) clone(question []byte) ([]byte, error) {
	var wanted repository
	if err := json.Unmarshal(question, &wanted); err != nil {
		return nil, err
	}
	directory, err := h.cloned(wanted)
	if err != nil {
		h.Failed(err)
		return nil, err
	}
	return []byte(directory), nil
}

func (h *host) cloned(wanted repository) (string, error) {
	for _, argument := range []string{wanted.URL, wanted.Ref} {
		if strings.HasPrefix(argument, "-") {
			return "", fmt.Errorf("git would read '%s' as an option", argument)
		}
	}
	program, err := exec.LookPath("git")
	if err != nil {
		return "", fmt.Errorf("no 'git' program on path: %w", err)
	}
	made, err := filesys.NewTmpConfirmedDir()
	if err != nil {
		return "", err
	}
	directory := string(made)
	h.mutex.Lock()
	h.clones = append(h.clones, directory)
	closed := h.closed
	h.mutex.Unlock()
	if closed {
		_ = os.RemoveAll(directory)
		return "", context.Cause(h.ctx)
	}
	// A file system that does not let anyone read the clone, as a jail, asks no server for it.
	if _, _, err := h.fSys.CleanedAbs(directory); err != nil {
		return "", err
	}
	ref := wanted.Ref
	if ref == "" {
		ref = "HEAD"
	}
	commands := [][]string{
		{"init"},
		{"remote", "add", "origin", wanted.URL},
		{"fetch", "--depth=1", wanted.URL, ref},
		{"checkout", "FETCH_HEAD"},
	}
	if wanted.Submodules {
		commands = append(commands, []string{"submodule", "update", "--init", "--recursive"})
	}
	for _, arguments := range commands {
		if err := h.git(program, directory, time.Duration(wanted.Timeout)*time.Millisecond, arguments); err != nil {
			return "", err
		}
	}
	return directory, nil
}

// git runs one command, up to its own limit of time.
func (h *host) git(program, directory string, limit time.Duration, arguments []string) error {
	ctx, cancel := context.WithTimeout(h.ctx, limit)
	defer cancel()
	command := exec.CommandContext(ctx, program, arguments...)
	command.Dir = directory
	// What git has started may keep its output open.
	command.WaitDelay = time.Second
	output, err := command.CombinedOutput()
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("failed to run '%s': %s: %w", command, output, err)
	}
	return nil
}

// fetch is the content of a file that a server has.
func (h *host) fetch(address string) ([]byte, error) {
	content, status, err := h.get(address)
	switch {
	case err != nil:
		h.Failed(err)
		return nil, err
	case status < 200 || status > 299:
		err := fmt.Errorf("HTTP Error: status code %d (%s)", status, http.StatusText(status))
		return nil, &core.Refusal{Letter: 'n', Err: err}
	}
	return content, nil
}

func (h *host) get(address string) ([]byte, int, error) {
	parsed, err := url.ParseRequestURI(address)
	if err != nil {
		return nil, 0, err
	}
	request, err := http.NewRequestWithContext(h.ctx, http.MethodGet, parsed.String(), nil)
	if err != nil {
		return nil, 0, err
	}
	response, err := h.client.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, int64(h.fileSize)+1))
	if err == nil && uint64(len(content)) > h.fileSize {
		err = fmt.Errorf("'%s' is larger than %d bytes", address, h.fileSize)
	}
	return content, response.StatusCode, err
}
