package krusty

import (
	"context"
	"fmt"

	upstream "sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// One build by kustomize's own package at a time: it has global state. A channel, so that a context
// ends the wait.
var turn = make(chan struct{}, 1)

// needsKustomize returns true if the options allow what only kustomize's own package runs.
func (k *Kustomizer) needsKustomize() bool {
	config := k.options.PluginConfig
	return config.HelmConfig.Enabled || config.PluginRestrictions == types.PluginRestrictionsNone ||
		config.FnpLoadingOptions.EnableExec
}

// byKustomize builds by kustomize's own package, which cannot be stopped: after the end of the
// context it goes on, and the next such build waits for it.
func (k *Kustomizer) byKustomize(ctx context.Context, fSys filesys.FileSystem, path string) (resmap.ResMap, error) {
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fault("timeout", context.Cause(ctx))
	}
	type result struct {
		resources resmap.ResMap
		err       error
	}
	results := make(chan result, 1)
	go func() {
		defer func() { <-turn }()
		made := result{err: fmt.Errorf("kustomize has ended the goroutine of its build")}
		defer func() {
			if value := recover(); value != nil {
				made.err = fault("internal", fmt.Errorf("kustomize panicked: %v", value))
			}
			results <- made
		}()
		options := k.options
		made.resources, made.err = upstream.MakeKustomizer(&options).Run(fSys, path)
	}()
	select {
	case made := <-results:
		return made.resources, made.err
	case <-ctx.Done():
		return nil, fault("timeout", context.Cause(ctx))
	}
}
