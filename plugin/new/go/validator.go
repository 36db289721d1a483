// Command @NAME@ refuses resources without a label.
package main

import (
	"fmt"

	"example.com/team/@NAME@/rustomize"
)

// @KIND@ is the configuration.
type @KIND@ struct {
	Label string `json:"label" doc:"@FIELD_DOC@"`
}

// Validate looks at the label of each resource.
func (p *@KIND@) Validate(_ rustomize.Call, resources []rustomize.Object) error {
	for _, resource := range resources {
		if resource.Text("metadata", "labels", p.Label) == "" {
			return fmt.Errorf("%s %s has no label %s", resource.Text("kind"), resource.Text("metadata", "name"), p.Label)
		}
	}
	return nil
}

func main() {
	rustomize.Main(rustomize.Plugin{
		Version:    "0.1.0",
		APIVersion: "example.com/v1",
		Kind:       "@KIND@",
		Summary:    "@SUMMARY@",
	}, &@KIND@{})
}
