// A plugin that generates and transforms, with a function main, a package of its own and a go.mod.
package main

import (
	"fmt"

	"example.com/both/words"
	"sigs.k8s.io/kustomize/api/resmap"
)

type plugin struct {
	h *resmap.PluginHelpers
}

var KustomizePlugin plugin

func main() { fmt.Println("nobody calls this") }

func (p *plugin) Config(h *resmap.PluginHelpers, _ []byte) error {
	p.h = h
	return nil
}

func (p *plugin) Generate() (resmap.ResMap, error) {
	m, err := p.h.ResmapFactory().NewResMapFromBytes([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + words.Name + "\n"))
	if err != nil {
		return nil, err
	}
	for _, r := range m.Resources() {
		r.EnableHashSuffix()
	}
	return m, nil
}

func (p *plugin) Transform(m resmap.ResMap) error {
	fmt.Println("a word on stdout")
	for _, r := range m.Resources() {
		annotations := r.GetAnnotations()
		annotations["seen"] = fmt.Sprint(m.Size())
		if err := r.SetAnnotations(annotations); err != nil {
			return err
		}
	}
	return nil
}
