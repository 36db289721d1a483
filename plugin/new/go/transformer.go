// Command @NAME@ sets the label team on all resources.
package main

import "example.com/team/@NAME@/rustomize"

// @KIND@ is the configuration.
type @KIND@ struct {
	Team string `json:"team" doc:"@FIELD_DOC@"`
}

// Transform sets the label.
func (p *@KIND@) Transform(_ rustomize.Call, resources []rustomize.Object) ([]rustomize.Object, error) {
	for _, resource := range resources {
		resource.Map("metadata", "labels")["team"] = p.Team
	}
	return resources, nil
}

func main() {
	rustomize.Main(rustomize.Plugin{
		Version:    "0.1.0",
		APIVersion: "example.com/v1",
		Kind:       "@KIND@",
		Summary:    "@SUMMARY@",
	}, &@KIND@{})
}
