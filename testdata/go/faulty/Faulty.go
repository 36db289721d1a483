// A transformer that does what its configuration says, all of it bad.
package main

import (
	"errors"
	"os"
	"runtime"
	"sync"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/yaml"
)

type plugin struct {
	Act string `json:"act"`
}

var KustomizePlugin plugin

func (p *plugin) Config(_ *resmap.PluginHelpers, c []byte) error {
	return yaml.Unmarshal(c, p)
}

func (p *plugin) Transform(m resmap.ResMap) error {
	switch p.Act {
	case "error":
		return errors.New("no such thing")
	case "panic":
		panic("oh no")
	case "nil":
		var q *plugin
		p.Act = q.Act
	case "goroutine":
		go panic("in a goroutine")
		runtime.Gosched()
		select {}
	case "deadlock":
		var mutex sync.Mutex
		mutex.Lock()
		mutex.Lock()
	case "exit":
		os.Exit(9)
	case "goexit":
		runtime.Goexit()
	case "loop":
		for {
		}
	case "stack":
		var f func(n int) int
		f = func(n int) int { return f(n+1) + 1 }
		f(0)
	}
	return nil
}
