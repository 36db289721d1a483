// Builds kustomizations with kustomize's own command, many in one process.
//
// Each line of standard input is a request, each line of standard output its answer, both in JSON. A request names a directory on
// disk, or holds the files of a tree, which is then built in memory. Starting kustomize takes ten times as long as a small build.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"strings"

	"sigs.k8s.io/kustomize/kustomize/v5/commands/build"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

type request struct {
	// Args are the arguments of `kustomize build`; the last one is the directory.
	Args []string `json:"args"`
	// Files are the files of a tree in memory, by their path. Without them the tree lies on disk.
	Files map[string][]byte `json:"files"`
	// Fresh forgets the schemas that earlier builds have read.
	Fresh bool `json:"fresh"`
}

type answer struct {
	Output []byte `json:"output"`
	Error  string `json:"error,omitempty"`
	Failed bool   `json:"failed"`
}

func main() {
	log.SetOutput(io.Discard)
	// An alias inside the value that it names is followed until the stack is full: let that be soon.
	debug.SetMaxStack(1 << 26)
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	requests := json.NewDecoder(in)
	for {
		var r request
		if err := requests.Decode(&r); err == io.EOF {
			return
		} else if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		if err := out.Encode(run(r)); err != nil {
			os.Exit(2)
		}
	}
}

// run is one build. A panic of kustomize's is an error here.
func run(r request) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = answer{Failed: true, Error: fmt.Sprint("panic: ", p)}
		}
	}()
	if r.Fresh {
		openapi.ResetOpenAPI()
		defer openapi.ResetOpenAPI()
	}
	files := filesys.MakeFsOnDisk()
	if r.Files != nil {
		files = filesys.MakeFsInMemory()
		for path, content := range r.Files {
			if err := files.WriteFile(path, content); err != nil {
				return answer{Failed: true, Error: err.Error()}
			}
		}
	}
	var stdout, stderr bytes.Buffer
	command := build.NewCmdBuild(files, build.MakeHelp("kustomize", "build"), &stdout)
	build.AddFunctionAlphaEnablementFlags(command.Flags())
	command.SetArgs(r.Args)
	command.SetOut(&stderr)
	command.SetErr(&stderr)
	command.SilenceErrors = true
	if err := command.Execute(); err != nil {
		return answer{Failed: true, Error: strings.TrimSpace(err.Error())}
	}
	return answer{Output: stdout.Bytes()}
}
