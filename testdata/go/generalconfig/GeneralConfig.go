// A generator that shows what the command line says.
package main

import (
	"encoding/json"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
)

type plugin struct {
	helpers *resmap.PluginHelpers
}

var KustomizePlugin plugin

func (p *plugin) Config(helpers *resmap.PluginHelpers, _ []byte) error {
	p.helpers = helpers
	return nil
}

func (p *plugin) Generate() (resmap.ResMap, error) {
	general := p.helpers.GeneralConfig()
	general.FnpLoadingOptions.WorkingDir = ""
	restrictions := general.PluginRestrictions == types.PluginRestrictionsNone
	isStatic := general.BpLoadingOptions == types.BploUseStaticallyLinked
	text, err := json.Marshal([]any{general.HelmConfig, general.FnpLoadingOptions, restrictions, isStatic})
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(string(text))
	if err != nil {
		return nil, err
	}
	return p.helpers.ResmapFactory().NewResMapFromBytes([]byte(
		"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: general\ndata:\n  config: " + string(data) + "\n"))
}
