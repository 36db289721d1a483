package krusty_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/OWNER/rustomize/bindings/go/krusty"
	upstream "sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// A directory for compiled code makes repeated runs faster: .ci/go-module has one.
func TestMain(m *testing.M) {
	if err := krusty.Prepare(os.Getenv("RUSTOMIZE_COMPILED_CORE")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

type files map[string]string

var app = files{
	"app/base/kustomization.yaml": "resources: [web.yaml]\nconfigMapGenerator: [{name: settings, literals: [level=info]}]\n",
	"app/base/web.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n" +
		"      containers: [{name: web, image: web, envFrom: [{configMapRef: {name: settings}}]}]\n",
	"app/prod/kustomization.yaml": "namePrefix: prod-\nnamespace: shop\nresources: [../base]\nimages: [{name: web, newTag: v2}]\n",
}

func inMemory(t testing.TB, all files) filesys.FileSystem {
	t.Helper()
	fSys := filesys.MakeFsInMemory()
	for path, content := range all {
		if err := fSys.WriteFile(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	return fSys
}

func onDisk(t testing.TB, all files) string {
	t.Helper()
	directory := t.TempDir()
	for path, content := range all {
		path = filepath.Join(directory, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

func build(fSys filesys.FileSystem, path string, more ...krusty.Setting) (string, error) {
	output, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions(), more...).RunYAML(fSys, path)
	return string(output), err
}

// kustomized is the output of kustomize's own package.
func kustomized(t *testing.T, fSys filesys.FileSystem, path string, o *upstream.Options) string {
	t.Helper()
	resources, err := upstream.MakeKustomizer(o).Run(fSys, path)
	if err != nil {
		t.Fatal(err)
	}
	output, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(output)
}

// fails returns the error of a build, which has this code and prints nothing.
func fails(t *testing.T, code string, output string, err error) *krusty.Error {
	t.Helper()
	var fault *krusty.Error
	if !errors.As(err, &fault) {
		t.Fatalf("want an error %s, got %v", code, err)
	}
	if fault.Code() != code || output != "" {
		t.Fatalf("want %s without output, got %s: %v\n%s", code, fault.Code(), err, output)
	}
	return fault
}

func TestBuildsPrintTheBytesOfKustomize(t *testing.T) {
	directory := onDisk(t, app)
	for _, reorder := range []krusty.ReorderOption{
		krusty.ReorderOptionNone, krusty.ReorderOptionLegacy, krusty.ReorderOptionUnspecified,
	} {
		options := krusty.MakeDefaultOptions()
		options.Reorder = reorder
		for _, tree := range []struct {
			fSys filesys.FileSystem
			path string
		}{
			{inMemory(t, app), "app/prod"},
			{inMemory(t, app), "/app/prod"},
			{filesys.MakeFsOnDisk(), filepath.Join(directory, "app/prod")},
		} {
			want := kustomized(t, tree.fSys, tree.path, options)
			got, err := krusty.MakeKustomizer(options).RunYAML(tree.fSys, tree.path)
			if err != nil || string(got) != want {
				t.Errorf("%s: %v\n%s\nwant\n%s", tree.path, err, got, want)
			}
			resources, err := krusty.MakeKustomizer(options).Run(tree.fSys, tree.path)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := resources.AsYaml(); err != nil || string(got) != want {
				t.Errorf("%s, resources: %v\n%s\nwant\n%s", tree.path, err, got, want)
			}
		}
	}
}

func TestOptionsAreThoseOfKustomize(t *testing.T) {
	tree := files{"app/kustomization.yaml": "resources: [../web.yaml]\n", "web.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"}
	fSys := inMemory(t, tree)
	output, err := build(fSys, "app")
	fails(t, "outside-root", output, err)
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone
	got, err := krusty.MakeKustomizer(options).RunYAML(fSys, "app")
	if want := kustomized(t, fSys, "app", options); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	options.PluginConfig = nil
	options.AddManagedbyLabel = true
	got, err = krusty.MakeKustomizer(options, krusty.Compat("flux-2.7")).RunYAML(fSys, "app")
	if err != nil || !strings.Contains(string(got), "app.kubernetes.io/managed-by: kustomize-") {
		t.Errorf("%v\n%s", err, got)
	}
	output, err = build(fSys, "app", krusty.Compat("9.9"))
	fails(t, "usage", output, err)
	output, err = build(fSys, "")
	fails(t, "usage", output, err)
	output, err = build(fSys, "nowhere")
	if fault := fails(t, "missing-file", output, err); !errors.Is(fault, fs.ErrNotExist) {
		t.Errorf("%v", fault)
	}
}

func TestSchemasWithoutDefinitionsHaveTheEffectThatTheyHaveInKustomize(t *testing.T) {
	const other = `{"definitions": {"x.Y": {"type": "object"}}}`
	const pods = `{"definitions": {"v1.Pod": {"properties": {"spec": {"properties": {"containers": {"type": "array", ` +
		`"items": {"type": "object"}, "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"}}}}, ` +
		`"x-kubernetes-group-version-kind": [{"group": "", "kind": "Pod", "version": "v1"}]}}}`
	kept := map[bool]int{}
	for _, base := range []string{"", other} {
		for _, overlay := range []string{`{"definitions": {}}`, "null", pods} {
			tree := files{
				"kustomization.yaml":      "openapi: {path: s.json}\nresources: [base]\npatches: [{path: p.yaml}]\n",
				"s.json":                  overlay,
				"p.yaml":                  "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: x, tty: true}]}\n",
				"base/kustomization.yaml": "resources: [a.yaml]\n",
				"base/a.yaml":             "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: x, image: web}]}\n",
			}
			if base != "" {
				tree["base/kustomization.yaml"] += "openapi: {path: s.json}\n"
				tree["base/s.json"] = base
			}
			fSys := inMemory(t, tree)
			for adds, settings := range map[bool][]krusty.Setting{false: nil, true: {krusty.BuiltinSchemas()}} {
				openapi.ResetOpenAPI()
				if adds {
					openapi.Schema()
				}
				want := kustomized(t, fSys, ".", krusty.MakeDefaultOptions())
				openapi.ResetOpenAPI()
				got, err := build(fSys, ".", settings...)
				if err != nil || got != want {
					t.Errorf("%s over %s, with the built-in schemas %v: %v\n%s\nwant\n%s", overlay, base, adds, err, got, want)
				}
				kept[strings.Contains(want, "image: web")]++
			}
		}
	}
	if kept[true] == 0 || kept[false] == 0 {
		t.Errorf("the schemas make no difference: %v", kept)
	}
}

func TestWarningsAreGivenToTheCaller(t *testing.T) {
	fSys := inMemory(t, files{"kustomization.yaml": "commonLabels: {a: b}\n"})
	var warnings []krusty.Diagnostic
	_, err := build(fSys, ".", krusty.Warnings(func(d krusty.Diagnostic) { warnings = append(warnings, d) }))
	if err != nil || len(warnings) != 1 || warnings[0].Code != "deprecated" || warnings[0].Severity != "warning" {
		t.Errorf("%v %+v", err, warnings)
	}
}

func TestFaultsHaveTheirPlaces(t *testing.T) {
	output, err := build(inMemory(t, files{"a/kustomization.yaml": "namePrefix: x\nnamespce: y\n"}), "a")
	fault := fails(t, "unknown-field", output, err)
	if d := fault.Diagnostics[0]; d.File != "a/kustomization.yaml" || d.Line != 2 {
		t.Errorf("%+v", d)
	}
}

// odd is a file system whose methods a test replaces.
type odd struct {
	filesys.FileSystem
	cleanedAbs func(string) (filesys.ConfirmedDir, string, error)
	readFile   func(string) ([]byte, error)
}

func (o odd) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	if o.cleanedAbs != nil {
		return o.cleanedAbs(path)
	}
	return o.FileSystem.CleanedAbs(path)
}

func (o odd) ReadFile(path string) ([]byte, error) {
	if o.readFile != nil {
		return o.readFile(path)
	}
	return o.FileSystem.ReadFile(path)
}

// jailed is an error as file systems with a jail return it.
type jailed struct{ path string }

func (j *jailed) Error() string { return j.path + " is outside of the jail" }

func TestErrorsOfTheFileSystemPassThrough(t *testing.T) {
	below := inMemory(t, app)
	broken := errors.New("the disk is on fire")
	output, err := build(odd{FileSystem: below, readFile: func(string) ([]byte, error) { return nil, broken }}, "app/prod")
	if !errors.Is(err, broken) || output != "" || !strings.Contains(err.Error(), broken.Error()) {
		t.Errorf("%v", err)
	}
	jail := odd{FileSystem: below, cleanedAbs: func(path string) (filesys.ConfirmedDir, string, error) {
		if strings.Contains(path, "base") {
			return "", "", &jailed{path}
		}
		return below.CleanedAbs(path)
	}}
	_, err = build(jail, "app/prod")
	var found *jailed
	if !errors.As(err, &found) {
		t.Errorf("%v", err)
	}
	denied := odd{FileSystem: below, readFile: func(path string) ([]byte, error) {
		if strings.HasSuffix(path, "web.yaml") {
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
		}
		return below.ReadFile(path)
	}}
	if _, err := build(denied, "app/prod"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
}

func TestAPanicOfTheFileSystemIsAnError(t *testing.T) {
	below := inMemory(t, app)
	for range 3 {
		output, err := build(odd{FileSystem: below, readFile: func(string) ([]byte, error) { panic("no") }}, "app/prod")
		if err == nil || output != "" || !strings.Contains(err.Error(), "the file system panicked: no") {
			t.Errorf("%v", err)
		}
		if _, err := build(below, "app/prod"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFileSystemsThatLie(t *testing.T) {
	below := inMemory(t, app)
	for name, cleanedAbs := range map[string]func(string) (filesys.ConfirmedDir, string, error){
		"nothing":     func(string) (filesys.ConfirmedDir, string, error) { return "", "", nil },
		"one place":   func(string) (filesys.ConfirmedDir, string, error) { return "/app/prod", "", nil },
		"one file":    func(string) (filesys.ConfirmedDir, string, error) { return "/app/prod", "kustomization.yaml", nil },
		"odd letters": func(string) (filesys.ConfirmedDir, string, error) { return "/\x00\xff\n", "\xfe\x00", nil },
		"only deeper": func(path string) (filesys.ConfirmedDir, string, error) {
			return filesys.ConfirmedDir(path + "/a"), "", nil
		},
		"relative": func(string) (filesys.ConfirmedDir, string, error) { return "app/prod", "", nil },
		"parent":   func(string) (filesys.ConfirmedDir, string, error) { return "/..", "..", nil },
	} {
		if output, err := build(odd{FileSystem: below, cleanedAbs: cleanedAbs}, "app/prod"); err == nil || output != "" {
			t.Errorf("%s: %q %v", name, output, err)
		}
	}
	// A file that changes is read once.
	reads := 0
	changing := odd{FileSystem: below, readFile: func(path string) ([]byte, error) {
		if strings.HasSuffix(path, "prod/kustomization.yaml") {
			reads++
			return []byte(fmt.Sprintf("namePrefix: n%d-\nresources: [../base]\n", reads)), nil
		}
		return below.ReadFile(path)
	}}
	output, err := build(changing, "app/prod")
	if err != nil || reads != 1 || !strings.Contains(output, "name: n1-web") {
		t.Errorf("%d %v\n%s", reads, err, output)
	}
}

func TestLinksMustNotLeaveTheRoot(t *testing.T) {
	below := inMemory(t, files{
		"app/kustomization.yaml": "resources: [link.yaml]\n", "app/link.yaml": "", "app/in.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: in}\n",
		"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
	})
	linked := func(directory filesys.ConfirmedDir, name string) filesys.FileSystem {
		return odd{FileSystem: below, cleanedAbs: func(path string) (filesys.ConfirmedDir, string, error) {
			if strings.HasSuffix(path, "link.yaml") {
				return directory, name, nil
			}
			return below.CleanedAbs(path)
		}}
	}
	output, err := build(linked("/", "secret.yaml"), "app")
	fails(t, "outside-root", output, err)
	if output, err := build(linked("/app", "in.yaml"), "app"); err != nil || !strings.Contains(output, "name: in") {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestTheEndOfAContextEndsABuild(t *testing.T) {
	below := inMemory(t, app)
	k := krusty.MakeKustomizer(krusty.MakeDefaultOptions())
	reached, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	var once sync.Once
	blocking := odd{FileSystem: below, readFile: func(string) ([]byte, error) {
		once.Do(func() { close(reached) })
		<-release
		return nil, errors.New("too late")
	}}
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the user has left")
	go func() {
		<-reached
		cancel(why)
	}()
	if _, err := k.RunYAMLContext(ctx, blocking, "app/prod"); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	if _, err := k.RunContext(ctx, below, "app/prod"); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	_, err := build(below, "app/prod", krusty.Deadline(time.Nanosecond))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	// A build in the middle of its work.
	bomb := inMemory(t, layers(30))
	ctx, stop := context.WithCancel(context.Background())
	reading := odd{FileSystem: bomb, readFile: func(path string) ([]byte, error) {
		if strings.HasSuffix(path, "0.yaml") {
			stop()
		}
		return bomb.ReadFile(path)
	}}
	if _, err := k.RunYAMLContext(ctx, reading, "l30"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := build(below, "app/prod"); err != nil {
		t.Error(err)
	}
}

// layers is a tree of n layers, each of which uses the layer below twice: 2 to the n resources.
func layers(n int) files {
	tree := files{
		"l0/kustomization.yaml": "resources: [0.yaml]\n",
		"l0/0.yaml":             "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n",
	}
	for k := 1; k <= n; k++ {
		for _, side := range []string{"a", "b"} {
			tree[fmt.Sprintf("l%d%s/kustomization.yaml", k, side)] = fmt.Sprintf("namePrefix: %s\nresources: [../l%d]\n", side, k-1)
		}
		tree[fmt.Sprintf("l%d/kustomization.yaml", k)] = fmt.Sprintf("resources: [../l%da, ../l%db]\n", k, k)
	}
	return tree
}

func TestBombsEndAtTheirLimits(t *testing.T) {
	laughs := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx0: &x0 [lol]\n"
	for k := 1; k < 30; k++ {
		laughs += fmt.Sprintf("x%d: &x%d [*x%d, *x%d, *x%d, *x%d, *x%d, *x%d, *x%d, *x%d]\n", k, k, k-1, k-1, k-1, k-1, k-1, k-1, k-1, k-1)
	}
	deep := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx: " + strings.Repeat("[", 1_000_000)
	for name, tree := range map[string]files{
		"layers": layers(40),
		"laughs": {"l40/kustomization.yaml": "resources: [a.yaml]\n", "l40/a.yaml": laughs},
		"deep":   {"l40/kustomization.yaml": "resources: [a.yaml]\n", "l40/a.yaml": deep},
	} {
		fSys := inMemory(t, tree)
		output, err := build(fSys, "l40", krusty.BuildSizeLimit(2<<20), krusty.MemoryLimit(256<<20))
		var fault *krusty.Error
		if !errors.As(err, &fault) || output != "" || fault.Code() == "internal" {
			t.Errorf("%s: %v", name, err)
		}
		output, err = build(fSys, "l40", krusty.BuildSizeLimit(1<<40), krusty.MemoryLimit(8<<20))
		if !errors.As(err, &fault) || output != "" || fault.Code() == "internal" {
			t.Errorf("%s, memory: %v", name, err)
		}
	}
	large := inMemory(t, files{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": "# " + strings.Repeat("a", 1<<20) + "\n"})
	output, err := build(large, ".", krusty.FileSizeLimit(1<<20))
	fails(t, "too-large", output, err)
	for _, limit := range []uint64{0, 1, 64 << 10, 1 << 20} {
		if output, err := build(inMemory(t, app), "app/prod", krusty.MemoryLimit(limit)); err == nil || output != "" {
			t.Errorf("with %d bytes: %v", limit, err)
		}
	}
}

func TestDeepTreesAreErrorsOrBuilt(t *testing.T) {
	tree := files{"l0/kustomization.yaml": "namePrefix: a\n"}
	for k := 1; k <= 2000; k++ {
		tree[fmt.Sprintf("l%d/kustomization.yaml", k)] = fmt.Sprintf("resources: [../l%d]\n", k-1)
	}
	fSys := inMemory(t, tree)
	if _, err := build(fSys, "l2000"); err != nil {
		var fault *krusty.Error
		if !errors.As(err, &fault) {
			t.Error(err)
		}
	}
	if _, err := build(inMemory(t, app), "app/prod"); err != nil {
		t.Error(err)
	}
}

func TestManyBuildsAtOnce(t *testing.T) {
	k := krusty.MakeKustomizer(krusty.MakeDefaultOptions())
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for n := range 10 {
				name := fmt.Sprintf("n%d-%d-", worker, n)
				fSys := inMemory(t, files{
					"kustomization.yaml": "namePrefix: " + name + "\nresources: [a.yaml]\n",
					"a.yaml":             "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n",
				})
				output, err := k.RunYAML(fSys, ".")
				if want := "apiVersion: v1\nkind: Service\nmetadata:\n  name: " + name + "a\n"; err != nil || string(output) != want {
					t.Errorf("%v\n%s", err, output)
				}
				if _, err := k.Run(fSys, "nowhere"); err == nil {
					t.Error("a missing directory is built")
				}
			}
		})
	}
	all.Wait()
}

func TestFilesAreFetchedOverHTTP(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/a.yaml" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n")
	}))
	defer server.Close()
	tree := func(path string) filesys.FileSystem {
		return inMemory(t, files{"kustomization.yaml": "namePrefix: x-\nresources: [" + server.URL + path + "]\n"})
	}
	if output, err := build(tree("/a.yaml"), "."); err != nil || !strings.Contains(output, "name: x-a") {
		t.Errorf("%v\n%s", err, output)
	}
	if output, err := build(tree("/b.yaml"), "."); err == nil || output != "" || !strings.Contains(err.Error(), "404") {
		t.Errorf("%v\n%s", err, output)
	}
	if _, err := build(tree("/a.yaml"), ".", krusty.FileSizeLimit(50)); err == nil {
		t.Error("a file above the limit is fetched")
	}
}

func TestRepositoriesAreClonedAndRemoved(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	directory := onDisk(t, app)
	git := func(arguments ...string) {
		command := exec.Command("git", append([]string{"-C", directory, "-c", "user.name=a", "-c", "user.email=a@example.com"}, arguments...)...)
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
	}
	git("init", "--quiet", "--initial-branch=main")
	git("add", ".")
	git("commit", "--quiet", "--message=a")
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	tree := onDisk(t, files{"kustomization.yaml": "nameSuffix: -remote\nresources: ['file://" + directory + "//app/prod?ref=main']\n"})
	output, err := build(filesys.MakeFsOnDisk(), tree)
	if err != nil || !strings.Contains(output, "name: prod-web-remote") {
		t.Errorf("%v\n%s", err, output)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
	option := filepath.Join(temporary, "made")
	tree = onDisk(t, files{"kustomization.yaml": "resources: ['file://" + directory + "//app/prod?ref=--upload-pack=touch " + option + "']\n"})
	if _, err := build(filesys.MakeFsOnDisk(), tree); err == nil {
		t.Error("an option in place of a version is taken")
	}
	if _, err := os.Stat(option); err == nil {
		t.Error("git has run a command that a kustomization names")
	}
}

func TestFunctionsRunAsKustomizeRunsThem(t *testing.T) {
	function := "#!/bin/sh\nsed 's/name: web/name: by-function/'\n"
	tree := onDisk(t, files{
		"kustomization.yaml": "resources: [web.yaml]\ntransformers: [f.yaml]\n",
		"web.yaml":           "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n",
		"f.yaml": "apiVersion: v1\nkind: F\nmetadata:\n  name: f\n  annotations:\n    config.kubernetes.io/function: |\n" +
			"      exec:\n        path: ./f.sh\n",
		"f.sh": function,
	})
	if err := os.Chmod(filepath.Join(tree, "f.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	output, err := build(filesys.MakeFsOnDisk(), tree)
	fails(t, "not-enabled", output, err)
	options := krusty.MakeDefaultOptions()
	options.PluginConfig = types.EnabledPluginConfig(types.BploUseStaticallyLinked)
	options.PluginConfig.FnpLoadingOptions.EnableExec = true
	want := kustomized(t, filesys.MakeFsOnDisk(), tree, options)
	got, err := krusty.MakeKustomizer(options).RunYAML(filesys.MakeFsOnDisk(), tree)
	if err != nil || string(got) != want || !strings.Contains(want, "by-function") {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	got, err = krusty.MakeKustomizer(options, krusty.WithoutKustomize()).RunYAML(filesys.MakeFsOnDisk(), tree)
	fails(t, "not-enabled", string(got), err)
}
