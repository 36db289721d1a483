// A transformer whose prefix comes from its configuration.
package main

import (
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

type plugin struct {
	Metadata types.ObjectMeta `json:"metadata,omitempty" yaml:"metadata,omitempty"`
	count    int
}

var KustomizePlugin plugin

func (p *plugin) Config(_ *resmap.PluginHelpers, c []byte) error {
	p.count++
	return yaml.Unmarshal(c, p)
}

func (p *plugin) Transform(m resmap.ResMap) error {
	if p.count != 1 {
		panic("this copy was configured before")
	}
	for _, r := range m.Resources() {
		r.StorePreviousId()
		if err := r.SetName(p.Metadata.Name + "-" + r.GetName()); err != nil {
			return err
		}
		r.AddNamePrefix(p.Metadata.Name + "-")
	}
	return nil
}
