// A transformer that adds resources: copies of one, with other names.
package main

import (
	"fmt"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"
)

type plugin struct {
	Metadata types.ObjectMeta `json:"metadata,omitempty" yaml:"metadata,omitempty"`
	Name     string           `json:"name,omitempty" yaml:"name,omitempty"`
	Count    int              `json:"count,omitempty" yaml:"count,omitempty"`
}

var KustomizePlugin plugin

func (p *plugin) Config(_ *resmap.PluginHelpers, c []byte) error {
	return yaml.Unmarshal(c, p)
}

func (p *plugin) Transform(m resmap.ResMap) error {
	originals := m.GetMatchingResourcesByAnyId(func(id resid.ResId) bool { return id.Name == p.Name })
	for _, original := range originals {
		for i := 1; i < p.Count; i++ {
			another := original.DeepCopy()
			if err := another.SetName(fmt.Sprintf("%s-%d", p.Name, i)); err != nil {
				return err
			}
			if err := m.Append(another); err != nil {
				return err
			}
		}
	}
	return nil
}
