// A generator that reads a file beside the kustomization, decodes it with a module of others, and makes a Secret of it.
package main

import (
	"encoding/base64"

	"github.com/go-errors/errors"
	"sigs.k8s.io/kustomize/api/kv"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

type plugin struct {
	h    *resmap.PluginHelpers
	Name string `json:"name,omitempty" yaml:"name,omitempty"`
	File string `json:"file,omitempty" yaml:"file,omitempty"`
}

var KustomizePlugin plugin

func (p *plugin) Config(h *resmap.PluginHelpers, c []byte) error {
	p.h = h
	return yaml.Unmarshal(c, p)
}

func (p *plugin) Generate() (resmap.ResMap, error) {
	encoded, err := p.h.Loader().Load(p.File)
	if err != nil {
		return nil, errors.Wrap(err, 0)
	}
	decoded, err := base64.StdEncoding.DecodeString(string(encoded))
	if err != nil {
		return nil, errors.WrapPrefix(err, "decoding "+p.File, 0)
	}
	args := types.SecretArgs{}
	args.Name = p.Name
	args.LiteralSources = []string{"text=" + string(decoded)}
	return p.h.ResmapFactory().FromSecretArgs(kv.NewLoader(p.h.Loader(), p.h.Validator()), args)
}
