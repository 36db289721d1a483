// Command @NAME@ generates a ConfigMap with a message.
package main

import "example.com/team/@NAME@/rustomize"

// @KIND@ is the configuration.
type @KIND@ struct {
	Message string `json:"message" doc:"@FIELD_DOC@"`
}

// Generate makes the ConfigMap.
func (p *@KIND@) Generate(call rustomize.Call) ([]rustomize.Object, error) {
	config := rustomize.Object{"apiVersion": "v1", "kind": "ConfigMap"}
	config.Map("metadata")["name"] = call.Name
	config.Map("data")["message"] = p.Message
	return []rustomize.Object{config}, nil
}

func main() {
	rustomize.Main(rustomize.Plugin{
		Version:    "0.1.0",
		APIVersion: "example.com/v1",
		Kind:       "@KIND@",
		Summary:    "@SUMMARY@",
	}, &@KIND@{})
}
