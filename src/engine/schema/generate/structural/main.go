// Writes ../../check/kubernetes.txt: the structure of the kinds of several versions of Kubernetes, and
// which of them are deprecated or removed.
//
// Sources are the public Go modules of Kubernetes: api/openapi-spec/swagger.json of k8s.io/kubernetes for the
// structure, and the markers in zz_generated.prerelease-lifecycle.go of k8s.io/api and its neighbours for the
// lifecycle. src/engine/check/kubernetes.rs describes the format and reads it.
//
//	cd src/engine/schema/generate && go run ./structural > ../../check/kubernetes.txt
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// The versions, oldest first. To add one, append it here and run the program.
var releases = []string{
	"v1.29.6", "v1.30.14", "v1.31.14", "v1.32.13", "v1.33.13", "v1.34.4", "v1.35.4", "v1.36.3", "v1.37.2",
}

// Modules with lifecycle markers, oldest first: what a newer one says wins, and an older one still knows the
// kinds that a newer one has dropped.
var lifecycles = []string{
	"k8s.io/apiextensions-apiserver@v0.29.6", "k8s.io/kube-aggregator@v0.29.6",
	"k8s.io/api@v0.22.5", "k8s.io/api@v0.25.9", "k8s.io/api@v0.29.6", "k8s.io/api@v0.33.13", "k8s.io/api@v0.37.2",
}

type schema struct {
	Ref        string                                  `json:"$ref"`
	Type       string                                  `json:"type"`
	Format     string                                  `json:"format"`
	Items      *schema                                 `json:"items"`
	Values     *schema                                 `json:"additionalProperties"`
	Properties map[string]*schema                      `json:"properties"`
	Required   []string                                `json:"required"`
	Kinds      []struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
}

// field is a field in some versions: its shape, and whether it is required.
type field struct {
	name, shape string
	required    bool
}

type kind struct{ group, version, kind string }

type life struct{ deprecated, removed, replacement string }

func main() {
	all := make([]map[string]*schema, len(releases))
	for i, release := range releases {
		text, err := os.ReadFile(filepath.Join(download("k8s.io/kubernetes@"+release), "api/openapi-spec/swagger.json"))
		check(err)
		var swagger struct{ Definitions map[string]*schema }
		check(json.Unmarshal(text, &swagger))
		all[i] = swagger.Definitions
	}
	_, err := os.Stdout.Write(render(all, readLifecycles()))
	check(err)
}

// download gives the directory of a module.
func download(module string) string {
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	check(err)
	var info struct{ Dir string }
	check(json.Unmarshal(out, &info))
	return info.Dir
}

// Types that the description calls an object or a string and that take more, or less, than that.
var special = map[string]string{
	"io.k8s.apimachinery.pkg.api.resource.Quantity":   "q",
	"io.k8s.apimachinery.pkg.util.intstr.IntOrString": "o",
	"io.k8s.apimachinery.pkg.apis.meta.v1.Time":       "s",
	"io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime":  "s",
	"io.k8s.apimachinery.pkg.runtime.RawExtension":    "m*",
	"io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1":   "m*",
	"io.k8s.apimachinery.pkg.apis.meta.v1.Patch":      "m*",
}

// isStruct tells whether a definition has a line of its own.
func isStruct(d *schema) bool { return len(d.Properties) > 0 }

// shape gives the letters for a schema: see src/engine/check/kubernetes.rs.
func shape(s *schema, definitions map[string]*schema, number map[string]int) string {
	if s == nil {
		return "*"
	}
	if s.Ref != "" {
		name := strings.TrimPrefix(s.Ref, "#/definitions/")
		target := definitions[name]
		switch {
		case special[name] != "":
			return special[name]
		case target == nil:
			return "*"
		case isStruct(target):
			return strconv.Itoa(number[name])
		}
		return shape(target, definitions, number)
	}
	switch s.Type {
	case "string":
		return "s"
	case "boolean":
		return "b"
	case "number":
		return "n"
	case "integer":
		if s.Format == "int32" {
			return "i"
		}
		return "l"
	case "array":
		return "a" + shape(s.Items, definitions, number)
	case "object":
		return "m" + shape(s.Values, definitions, number)
	}
	return "*"
}

// render writes the text of the file.
func render(all []map[string]*schema, lives map[kind]life) []byte {
	masks := map[string]int{}
	for i, definitions := range all {
		for name, d := range definitions {
			if isStruct(d) {
				masks[name] |= 1 << i
			}
		}
	}
	var names []string
	for name := range masks {
		names = append(names, name)
	}
	sort.Strings(names)
	number := map[string]int{}
	for i, name := range names {
		number[name] = i
	}
	var out bytes.Buffer
	out.WriteString("V")
	for _, release := range releases {
		out.WriteString(" " + strings.TrimPrefix(release[:strings.LastIndex(release, ".")], "v"))
	}
	out.WriteString("\n")
	kinds := map[kind]map[string]int{}
	for _, name := range names {
		fields := map[field]int{}
		// From the newest version on: a field that a newer version does not require was never needed by a
		// server, whose older descriptions were too strict.
		optional := map[string]bool{}
		for i := len(all) - 1; i >= 0; i-- {
			d := all[i][name]
			if d == nil || !isStruct(d) {
				continue
			}
			required := map[string]bool{}
			for _, f := range d.Required {
				required[f] = true
			}
			for f, s := range d.Properties {
				optional[f] = optional[f] || !required[f]
				fields[field{f, shape(s, all[i], number), !optional[f]}] |= 1 << i
			}
			if len(d.Kinds) == 1 {
				k := kind{d.Kinds[0].Group, d.Kinds[0].Version, d.Kinds[0].Kind}
				if kinds[k] == nil {
					kinds[k] = map[string]int{}
				}
				kinds[k][name] |= 1 << i
			}
		}
		fmt.Fprintf(&out, "T\n")
		writeFields(&out, fields, masks[name])
	}
	fmt.Fprintf(&out, "M %d\n", number["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"])
	writeKinds(&out, kinds, number)
	writeLives(&out, lives)
	return out.Bytes()
}

func writeFields(out *bytes.Buffer, fields map[field]int, mask int) {
	var sorted []field
	for f := range fields {
		sorted = append(sorted, f)
	}
	sort.Slice(sorted, func(i, j int) bool {
		a, b := sorted[i], sorted[j]
		return a.name < b.name || a.name == b.name && (a.shape < b.shape || a.shape == b.shape && a.required)
	})
	for _, f := range sorted {
		fmt.Fprintf(out, " %s %s", f.name, f.shape)
		if f.required {
			out.WriteString("!")
		}
		if fields[f] != mask {
			fmt.Fprintf(out, " %x", fields[f])
		}
		out.WriteString("\n")
	}
}

func writeKinds(out *bytes.Buffer, kinds map[kind]map[string]int, number map[string]int) {
	for _, k := range sortedKinds(kinds) {
		var names []string
		for name := range kinds[k] {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			fmt.Fprintf(out, "K %s %d %x\n", k, number[name], kinds[k][name])
		}
	}
}

func writeLives(out *bytes.Buffer, lives map[kind]life) {
	for _, k := range sortedKinds(lives) {
		l := lives[k]
		fmt.Fprintf(out, "L %s %s %s %s\n", k, or(l.deprecated, "-"), or(l.removed, "-"), or(l.replacement, "-"))
	}
}

func (k kind) String() string { return or(k.group, "-") + " " + k.version + " " + k.kind }

func sortedKinds[V any](kinds map[kind]V) []kind {
	var sorted []kind
	for k := range kinds {
		sorted = append(sorted, k)
	}
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].String() < sorted[j].String() })
	return sorted
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

var (
	groupName = regexp.MustCompile(`const GroupName = "([^"]*)"`)
	minor     = regexp.MustCompile(`func \(in \*(\w+)\) APILifecycle(Deprecated|Removed)\(\) \(major, minor int\) \{\s*return 1, (\d+)`)
	instead   = regexp.MustCompile(`func \(in \*(\w+)\) APILifecycleReplacement\(\) schema\.GroupVersionKind \{\s*return schema\.GroupVersionKind\{Group: "([^"]*)", Version: "([^"]*)", Kind: "([^"]*)"`)
)

// readLifecycles reads when kinds were deprecated and removed, and what takes their place.
func readLifecycles() map[kind]life {
	lives := map[kind]life{}
	for _, module := range lifecycles {
		dir := download(module)
		var files []string
		for _, below := range []string{"*/*", "pkg/apis/*/*"} {
			found, err := filepath.Glob(filepath.Join(dir, below, "zz_generated.prerelease-lifecycle.go"))
			check(err)
			files = append(files, found...)
		}
		for _, file := range files {
			readLifecycle(file, lives)
		}
	}
	return lives
}

func readLifecycle(file string, lives map[kind]life) {
	text, err := os.ReadFile(file)
	check(err)
	register, err := os.ReadFile(filepath.Join(filepath.Dir(file), "register.go"))
	check(err)
	group := ""
	if found := groupName.FindSubmatch(register); found != nil {
		group = string(found[1])
	} else {
		panic(file + ": register.go does not name the group")
	}
	version := filepath.Base(filepath.Dir(file))
	edit := func(name []byte, edit func(*life)) {
		k := kind{group, version, string(name)}
		// Lists are read by nobody who writes manifests.
		if strings.HasSuffix(k.kind, "List") {
			return
		}
		l := lives[k]
		edit(&l)
		lives[k] = l
	}
	for _, m := range minor.FindAllSubmatch(text, -1) {
		edit(m[1], func(l *life) {
			if string(m[2]) == "Removed" {
				l.removed = string(m[3])
			} else {
				l.deprecated = string(m[3])
			}
		})
	}
	for _, m := range instead.FindAllSubmatch(text, -1) {
		edit(m[1], func(l *life) { l.replacement = fmt.Sprintf("%s/%s/%s", m[2], m[3], m[4]) })
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
