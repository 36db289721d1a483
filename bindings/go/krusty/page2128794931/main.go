package main

import (
	"fmt"
	"os"

	"github.com/OWNER/rustomize/bindings/go/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func main() {
	files := filesys.MakeFsInMemory()
	for path, text := range map[string]string{
		"base/kustomization.yaml": "resources: [web.yaml]\n",
		"base/web.yaml":           "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n",
		"prod/kustomization.yaml": "namePrefix: prod-\nresources: [../base]\n",
	} {
		if err := files.WriteFile(path, []byte(text)); err != nil {
			panic(err)
		}
	}
	output, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).RunYAML(files, "prod")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(string(output))
}
