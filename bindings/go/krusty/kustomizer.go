package krusty

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/OWNER/rustomize/bindings/go/internal/core"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Kustomizer builds kustomizations. It may be used by any number of goroutines.
type Kustomizer struct {
	options  Options
	settings settings
}

// MakeKustomizer returns a Kustomizer with kustomize's options, and with settings of rustomize.
func MakeKustomizer(o *Options, more ...Setting) *Kustomizer {
	k := &Kustomizer{options: *o, settings: settings{memory: usualMemory}}
	if k.options.PluginConfig == nil {
		k.options.PluginConfig = types.DisabledPluginConfig()
	}
	for _, set := range more {
		set(&k.settings)
	}
	return k
}

// Run builds the kustomization in a directory of a file system, or in a repository.
func (k *Kustomizer) Run(fSys filesys.FileSystem, path string) (resmap.ResMap, error) {
	return k.RunContext(context.Background(), fSys, path)
}

// RunContext is Run with a context, whose end ends the build.
func (k *Kustomizer) RunContext(ctx context.Context, fSys filesys.FileSystem, path string) (resmap.ResMap, error) {
	ctx, cancel := k.limited(ctx)
	defer cancel()
	output, made, err := k.build(ctx, fSys, path)
	if err != nil || made != nil {
		return made, err
	}
	resources, err := parsed(ctx, output)
	switch {
	case ctx.Err() != nil:
		return nil, fault("timeout", context.Cause(ctx))
	case err != nil:
		return nil, fault("internal", fmt.Errorf("kustomize cannot read the output: %w", err))
	}
	return resources, nil
}

// The bytes that are parsed before the context is asked again, or more if one resource is longer.
const parsedTogether = 64 << 10

// parsed is the output as kustomize's resources. Append would compare each resource with all before
// it, by ids that it makes anew each time; those of an output differ, and a filter adds all at once.
func parsed(ctx context.Context, output []byte) (resmap.ResMap, error) {
	factory := provider.NewDefaultDepProvider().GetResourceFactory()
	resources := resmap.New()
	err := resources.ApplyFilter(kio.FilterFunc(func([]*yaml.RNode) ([]*yaml.RNode, error) {
		var all []*yaml.RNode
		for rest := output; len(rest) > 0 && ctx.Err() == nil; {
			piece := rest
			if end := separator(rest, parsedTogether); end >= 0 {
				piece = rest[:end]
			}
			rest = rest[len(piece):]
			nodes, err := factory.RNodesFromBytes(piece)
			if err != nil {
				return nil, err
			}
			all = append(all, nodes...)
		}
		return all, nil
	}))
	return resources, err
}

// separator is the place of the first line between resources from a place on, or -1.
func separator(output []byte, from int) int {
	line := []byte("\n---\n")
	at := bytes.Index(output[min(from, len(output)):], line)
	if at < 0 {
		return -1
	}
	return from + at + 1
}

// RunYAML is Run without a parse: it returns the bytes that kustomize prints.
func (k *Kustomizer) RunYAML(fSys filesys.FileSystem, path string) ([]byte, error) {
	return k.RunYAMLContext(context.Background(), fSys, path)
}

// RunYAMLContext is RunYAML with a context, whose end ends the build.
func (k *Kustomizer) RunYAMLContext(ctx context.Context, fSys filesys.FileSystem, path string) ([]byte, error) {
	ctx, cancel := k.limited(ctx)
	defer cancel()
	output, made, err := k.build(ctx, fSys, path)
	if err != nil || made == nil {
		return output, err
	}
	return made.AsYaml()
}

// request is a request to the core, and options its options.
type request struct {
	Op      string  `json:"op"`
	Root    string  `json:"root"`
	Options options `json:"options"`
}

type options struct {
	Compat         string `json:"compat,omitempty"`
	LoadRestrictor string `json:"loadRestrictor"`
	Reorder        string `json:"reorder,omitempty"`
	ManagedByLabel bool   `json:"managedByLabel"`
	FileSizeLimit  uint64 `json:"fileSizeLimit,omitempty"`
	BuildSizeLimit uint64 `json:"buildSizeLimit,omitempty"`
	CRDMergeKeys   bool   `json:"crdMergeKeys"`
	OpenAPIAdds    bool   `json:"openapiAdds,omitempty"`
	Remote         bool   `json:"remote"`
	Helm           bool   `json:"helm"`
}

func (k *Kustomizer) request(root string) request {
	o := options{
		Compat:         k.settings.compat,
		LoadRestrictor: types.LoadRestrictionsNone.String(),
		ManagedByLabel: k.options.AddManagedbyLabel,
		FileSizeLimit:  k.settings.fileSize,
		BuildSizeLimit: k.settings.buildSize,
		CRDMergeKeys:   k.settings.mergeKeys,
		OpenAPIAdds:    k.settings.openapi,
		Remote:         true,
		Helm:           k.options.PluginConfig.HelmConfig.Enabled,
	}
	if k.options.LoadRestrictions == types.LoadRestrictionsRootOnly {
		o.LoadRestrictor = types.LoadRestrictionsRootOnly.String()
	}
	switch k.options.Reorder {
	case ReorderOptionLegacy, ReorderOptionUnspecified:
		o.Reorder = "legacy"
	default:
		o.Reorder = "none"
	}
	return request{"build", root, o}
}

// limited is a context that also ends with the deadline.
func (k *Kustomizer) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if k.settings.deadline > 0 {
		return context.WithTimeout(ctx, k.settings.deadline)
	}
	return ctx, func() {}
}

// build returns the output as bytes, or as resources if kustomize has built.
func (k *Kustomizer) build(ctx context.Context, fSys filesys.FileSystem, path string) ([]byte, resmap.ResMap, error) {
	if path == "" {
		return nil, nil, fault("usage", errors.New("directory path cannot be empty"))
	}
	program, err := core.Load("")
	if err != nil {
		return nil, nil, fault("internal", err)
	}
	text, err := json.Marshal(k.request(path))
	if err != nil {
		return nil, nil, fault("internal", err)
	}
	host := newHost(ctx, fSys, k.settings)
	defer host.close()
	job := &core.Job{Host: host, Request: text}
	if err := core.Instances.Do(ctx, program, k.settings.memory, job); err != nil {
		return nil, nil, ended(err)
	}
	end, err := parseEnd(job.End)
	if err != nil {
		return nil, nil, fault("internal", fmt.Errorf("the core's answer: %w", err))
	}
	for _, warning := range end.Warnings {
		k.warn(warning)
	}
	if end.OK {
		return job.Output, nil, nil
	}
	if ctx.Err() != nil {
		return nil, nil, fault("timeout", context.Cause(ctx))
	}
	failed := &Error{Diagnostics: end.Errors, text: end.Text, causes: host.failures()}
	switch failed.Code() {
	case "missing-file":
		failed.causes = append(failed.causes, fs.ErrNotExist)
	case "not-enabled":
		if !k.settings.alwaysOurs && k.needsKustomize() {
			made, err := k.byKustomize(ctx, fSys, path)
			return nil, made, err
		}
	}
	return nil, nil, failed
}

// ended is the error about an instance that has ended in a build.
func ended(err error) error {
	var end *core.Ended
	switch {
	case !errors.As(err, &end):
		// The context has ended.
		return fault("timeout", err)
	case errors.Is(err, core.ErrMemory), strings.Contains(end.Message, "memory allocation of"),
		strings.Contains(end.Message, "unable to allocate stack"):
		return fault("too-large", errors.New("the build needs more memory than its limit"))
	default:
		return fault("internal", fmt.Errorf("the engine has failed, which is a fault of rustomize: %w", err))
	}
}

func (k *Kustomizer) warn(warning Diagnostic) {
	if k.settings.warn != nil {
		k.settings.warn(warning)
		return
	}
	var text bytes.Buffer
	fmt.Fprintln(&text, warning.Message)
	_, _ = os.Stderr.Write(text.Bytes())
}
