package core

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
	"time"
)

// tree is a host whose files are in memory.
type tree struct {
	files map[string]string
	// Closed when the last of the files is read.
	read chan struct{}
	left int
}

func (t *tree) Answer(kind byte, payload []byte) ([]byte, error) {
	place := path.Join("/", string(payload))
	switch content, isFile := t.files[place]; {
	case kind == 'd' && !isFile, kind == 'o' && isFile:
		return []byte(place), nil
	case kind == 'r' && isFile:
		if t.left--; t.left == 0 {
			close(t.read)
		}
		return []byte(content), nil
	}
	return nil, &Refusal{Letter: 'n', Err: fmt.Errorf("'%s' does not exist", place)}
}

const service = "apiVersion: v1\nkind: Service\nmetadata: {name: %s}\n"

// Trees whose builds take many seconds after their last file is read.
var endless = map[string]func() map[string]string{
	"aliases": func() map[string]string {
		// Each document is within the limit of one document.
		var text strings.Builder
		for n := range 200 {
			fmt.Fprintf(&text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a%d}\nx0: &x0 [lol]\n", n)
			for k := 1; k < 7; k++ {
				fmt.Fprintf(&text, "x%d: &x%d [%s*x%d]\n", k, k, strings.Repeat(fmt.Sprintf("*x%d, ", k-1), 7), k-1)
			}
		}
		return map[string]string{"/kustomization.yaml": "namePrefix: a\nresources: [a.yaml]\n", "/a.yaml": text.String()}
	},
	"regular expressions": func() map[string]string {
		patches := "patches:\n"
		for k := range 100 {
			patches += fmt.Sprintf("- {target: {name: '(.*x?y?z?){%d}b'}, patch: '[{\"op\": \"add\", \"path\": \"/a\", \"value\": 1}]'}\n", 20+k)
		}
		return map[string]string{
			"/kustomization.yaml": "resources: [a.yaml]\n" + patches,
			"/a.yaml":             fmt.Sprintf(service, strings.Repeat("aé", 4<<20)),
		}
	},
	"replacements": func() map[string]string {
		var resources, replacements strings.Builder
		for k := range 4000 {
			fmt.Fprintf(&resources, service+"---\n", fmt.Sprint("n", k))
			fmt.Fprintf(&replacements, "- source: {kind: Service, name: n%d}\n  targets: [{select: {kind: Service}, fieldPaths: [metadata.annotations.a], options: {create: true}}]\n", k)
		}
		return map[string]string{
			"/kustomization.yaml": "resources: [a.yaml]\nreplacements:\n" + replacements.String(), "/a.yaml": resources.String(),
		}
	},
	"a sort": func() map[string]string {
		var resources strings.Builder
		for k := range 600_000 {
			fmt.Fprintf(&resources, service+"---\n", fmt.Sprint("n", k*7919%1_000_003))
		}
		return map[string]string{"/kustomization.yaml": "sortOptions: {order: legacy}\nresources: [a.yaml]\n", "/a.yaml": resources.String()}
	},
}

func TestTheEndOfAContextEndsTheProgram(t *testing.T) {
	program, err := Load(os.Getenv("RUSTOMIZE_COMPILED_CORE"))
	if err != nil {
		t.Fatal(err)
	}
	for name, made := range endless {
		t.Run(name, func(t *testing.T) {
			files := made()
			host := &tree{files: files, read: make(chan struct{}), left: len(files)}
			instance := program.start(4<<30 - 64<<10)
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				<-host.read
				// Into the work on the files.
				time.Sleep(300 * time.Millisecond)
				cancel()
			}()
			request := `{"op":"build","root":"/","options":{"buildSizeLimit":1099511627776,"loadRestrictor":""}}`
			job := &Job{Host: host, Request: []byte(request)}
			if err := instance.Do(ctx, job); !errors.Is(err, context.Canceled) {
				t.Fatalf("%v %s", err, job.End)
			}
			begin := time.Now()
			<-instance.ended
			t.Logf("ended after %v", time.Since(begin))
			var ended *Ended
			if !errors.As(instance.err, &ended) || !strings.Contains(ended.Err.Error(), "unreachable") {
				t.Errorf("not ended by the flag: %v", instance.err)
			}
		})
	}
}

func TestAnInstanceAnswersJobAfterJobAndGivesItsMemoryBack(t *testing.T) {
	program, err := Load(os.Getenv("RUSTOMIZE_COMPILED_CORE"))
	if err != nil {
		t.Fatal(err)
	}
	var pool Pool
	var first *Instance
	for _, name := range []string{"a", "b", "c"} {
		host := &tree{files: map[string]string{
			"/kustomization.yaml": "namePrefix: x-\nresources: [s.yaml]\n", "/s.yaml": fmt.Sprintf(service, name),
		}}
		job := &Job{Host: host, Request: []byte(`{"op":"build","root":"/"}`)}
		if err := pool.Do(context.Background(), program, 64<<20, job); err != nil {
			t.Fatal(err)
		}
		if want := "name: x-" + name + "\n"; !strings.HasSuffix(string(job.Output), want) {
			t.Errorf("%q does not end with %q: %s", job.Output, want, job.End)
		}
		if first == nil {
			first = pool.idle[0].Instance
		}
		if len(pool.idle) != 1 || pool.idle[0].Instance != first {
			t.Errorf("another instance has answered: %v", pool.idle)
		}
	}
	// It has not waited long enough yet, however slow this machine is.
	begin := time.Now()
	pool.idle[0].since = begin.Add(time.Hour)
	pool.watch()
	if len(pool.idle) != 1 {
		t.Fatal("an instance has ended too early")
	}
	pool.idle[0].since = begin.Add(-idle)
	pool.watch()
	if len(pool.idle) != 0 || first.module != nil || first.memory.bytes != nil {
		t.Errorf("an instance that has waited long keeps its memory: %v", pool.idle)
	}
}
