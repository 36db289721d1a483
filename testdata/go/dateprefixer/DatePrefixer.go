// A transformer that puts a date before all names, with a built-in transformer inside.
package main

import (
	"sigs.k8s.io/kustomize/api/builtins"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"
)

type plugin struct {
	inner resmap.TransformerPlugin
}

var KustomizePlugin plugin

// A day that stays, so that a test can say what comes out.
const day = "2026-01-31"

// inside is the configuration of the transformer inside.
type inside struct {
	Prefix     string            `json:"prefix"`
	FieldSpecs []types.FieldSpec `json:"fieldSpecs"`
}

func (p *plugin) Config(h *resmap.PluginHelpers, _ []byte) error {
	config, err := yaml.Marshal(inside{day + "-", []types.FieldSpec{{Gvk: resid.Gvk{}, Path: "metadata/name"}}})
	if err != nil {
		return err
	}
	p.inner = builtins.NewPrefixTransformerPlugin()
	return p.inner.Config(h, config)
}

func (p *plugin) Transform(m resmap.ResMap) error { return p.inner.Transform(m) }
