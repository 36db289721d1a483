package krusty

import (
	"net/http"
	"time"

	"github.com/OWNER/rustomize/bindings/go/internal/core"
	upstream "sigs.k8s.io/kustomize/api/krusty"
)

// Options are those of kustomize.
type Options = upstream.Options

// ReorderOption is that of kustomize.
type ReorderOption = upstream.ReorderOption

// The orders of kustomize.
const (
	ReorderOptionLegacy      = upstream.ReorderOptionLegacy
	ReorderOptionNone        = upstream.ReorderOptionNone
	ReorderOptionUnspecified = upstream.ReorderOptionUnspecified
)

// MakeDefaultOptions returns kustomize's default options.
func MakeDefaultOptions() *Options { return upstream.MakeDefaultOptions() }

// GetBuiltinPluginNames returns the names of kustomize's builtin plugins.
func GetBuiltinPluginNames() []string { return upstream.GetBuiltinPluginNames() }

// Setting is an option that kustomize does not have.
type Setting func(*settings)

type settings struct {
	compat     string
	deadline   time.Duration
	memory     uint64
	fileSize   uint64
	buildSize  uint64
	mergeKeys  bool
	openapi    bool
	client     *http.Client
	warn       func(Diagnostic)
	alwaysOurs bool
}

// The usual limits: of the memory of an instance, and of the size of a file.
const (
	usualMemory   = 2 << 30
	usualFileSize = 256 << 20
)

// Compat builds as a version of kustomize, or as that of a program: "5.7.1", "flux-2.7". The usual
// one is the newest.
func Compat(version string) Setting { return func(s *settings) { s.compat = version } }

// Deadline ends a build after a time.
func Deadline(limit time.Duration) Setting { return func(s *settings) { s.deadline = limit } }

// MemoryLimit is the number of bytes that the engine may use for a build, files and output
// included: 2 GiB unless it is set. A build that needs more ends with an error.
func MemoryLimit(bytes uint64) Setting {
	return func(s *settings) { s.memory = min(bytes, 4<<30-64<<10) }
}

// FileSizeLimit is the largest size of a file in bytes: 256 MiB unless it is set.
func FileSizeLimit(bytes uint64) Setting { return func(s *settings) { s.fileSize = bytes } }

// BuildSizeLimit is the number of bytes that the steps of a build may make, as texts, copies and
// output: 1 GiB unless it is set. A small tree can make a huge output.
func BuildSizeLimit(bytes uint64) Setting { return func(s *settings) { s.buildSize = bytes } }

// CRDMergeKeys merges lists of custom kinds by the keys that CustomResourceDefinitions in the tree
// name, which kustomize does not.
func CRDMergeKeys() Setting { return func(s *settings) { s.mergeKeys = true } }

// BuiltinSchemas lets a schema of openapi.path add to the built-in ones, as in a program that calls
// kustomize's openapi.Schema before a build. Otherwise it takes their place, as in the command.
func BuiltinSchemas() Setting { return func(s *settings) { s.openapi = true } }

// HTTPClient fetches files over HTTP. The usual one is kustomize's: no timeout but the context's.
func HTTPClient(client *http.Client) Setting { return func(s *settings) { s.client = client } }

// Warnings gets the warnings of builds. Without it they are printed to stderr, as kustomize prints
// them.
func Warnings(warn func(Diagnostic)) Setting { return func(s *settings) { s.warn = warn } }

// WithoutKustomize never builds by kustomize's own package: helm, functions and plugins are errors.
func WithoutKustomize() Setting { return func(s *settings) { s.alwaysOurs = true } }

// Prepare compiles the engine, which takes a second or two, unless the directory has the compiled
// code of an earlier process. Without Prepare the first build compiles it and keeps nothing.
func Prepare(directory string) error {
	_, err := core.Load(directory)
	return err
}
