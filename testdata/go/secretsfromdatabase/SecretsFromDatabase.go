// A generator of a Secret whose values come from somewhere else.
package main

import (
	"errors"

	"sigs.k8s.io/kustomize/api/kv"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

type plugin struct {
	h                *resmap.PluginHelpers
	types.ObjectMeta `json:"metadata,omitempty" yaml:"metadata,omitempty"`
	Keys             []string `json:"keys,omitempty" yaml:"keys,omitempty"`
}

var KustomizePlugin plugin

var database = map[string]string{
	"USER":     "reader",
	"PASSWORD": "s3cr=t",
}

func (p *plugin) Config(h *resmap.PluginHelpers, c []byte) error {
	p.h = h
	return yaml.Unmarshal(c, p)
}

func (p *plugin) Generate() (resmap.ResMap, error) {
	args := types.SecretArgs{}
	args.Name = p.Name
	args.Namespace = p.Namespace
	for _, k := range p.Keys {
		v, ok := database[k]
		if !ok {
			return nil, errors.New("no such key: " + k)
		}
		args.LiteralSources = append(args.LiteralSources, k+"="+v)
	}
	return p.h.ResmapFactory().FromSecretArgs(kv.NewLoader(p.h.Loader(), p.h.Validator()), args)
}
