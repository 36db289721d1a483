// A transformer for kustomize: names the ports of Services that have no name.
//
//	rustomize plugin build .
package main

import (
	"fmt"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

type plugin struct {
	Prefix string `yaml:"prefix"`
}

// KustomizePlugin is what kustomize and rustomize look for.
var KustomizePlugin plugin

func (p *plugin) Config(_ *resmap.PluginHelpers, config []byte) error {
	return yaml.Unmarshal(config, p)
}

func (p *plugin) Transform(resources resmap.ResMap) error {
	for _, resource := range resources.Resources() {
		if resource.GetKind() != "Service" {
			continue
		}
		ports, err := resource.Pipe(yaml.Lookup("spec", "ports"))
		if err != nil || ports == nil {
			return err
		}
		err = ports.VisitElements(func(port *yaml.RNode) error {
			if port.Field("name") != nil || port.Field("port") == nil {
				return nil
			}
			name := fmt.Sprint(p.Prefix, port.Field("port").Value.YNode().Value)
			return port.PipeE(yaml.SetField("name", yaml.NewStringRNode(name)))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
