// Command NAME generates a ConfigMap of the configuration's message.
package main

import (
	"fmt"
	"log"
	"os"
	"regexp"
)

func field(name string, config []byte) string {
	found := regexp.MustCompile(`(?m)^ *` + name + `: (.*)$`).FindSubmatch(config)
	if found == nil {
		log.Fatalf("the configuration has no '%s'", name)
	}
	return string(found[1])
}

func main() {
	config, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  message: %s\n", field("name", config), field("message", config))
}
