// A generator with the Config of older plugins, with which the documentation of plugins began.
package main

import (
	"sigs.k8s.io/kustomize/api/ifc"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/yaml"
)

type plugin struct {
	ldr  ifc.Loader
	rf   *resmap.Factory
	File string `json:"file,omitempty"`
}

var KustomizePlugin plugin

func (p *plugin) Config(ldr ifc.Loader, rf *resmap.Factory, c []byte) error {
	p.ldr = ldr
	p.rf = rf
	return yaml.Unmarshal(c, p)
}

func (p *plugin) Generate() (resmap.ResMap, error) {
	content, err := p.ldr.Load(p.File)
	if err != nil {
		return nil, err
	}
	return p.rf.NewResMapFromBytes(content)
}
