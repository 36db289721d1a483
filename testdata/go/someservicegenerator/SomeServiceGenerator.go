// A generator that fills a template.
package main

import (
	"bytes"
	"text/template"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/yaml"
)

// What is named like this file's imports must not hinder the build.
type plugin struct {
	h           *resmap.PluginHelpers
	ServiceName string `json:"service,omitempty" yaml:"service,omitempty"`
	Port        string `json:"port,omitempty" yaml:"port,omitempty"`
}

var KustomizePlugin plugin

// Names that another file of the package might want.
var (
	json    = 1
	os      = 2
	reflect = 3
	fmt     = 4
)

var service = template.Must(template.New("service").Parse(`apiVersion: v1
kind: Service
metadata:
  name: {{.ServiceName}}
spec:
  ports: [{port: {{.Port}}}]
  selector: {tier: {{.ServiceName}}} # of the template
`))

func (p *plugin) Config(h *resmap.PluginHelpers, config []byte) error {
	p.h = h
	return yaml.Unmarshal(config, p)
}

func (p *plugin) Generate() (resmap.ResMap, error) {
	var buf bytes.Buffer
	if err := service.Execute(&buf, p); err != nil {
		return nil, err
	}
	return p.h.ResmapFactory().NewResMapFromBytes(buf.Bytes())
}
