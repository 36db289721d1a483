// Writes ../builtin.rs: which lists of the Kubernetes 1.21.2 kinds are merged by key, and how to get there.
//
// Source of truth are the struct tags (json, patchStrategy, patchMergeKey) and comment markers (+listType,
// +listMapKey) of the public Go modules named in go.mod. Definitions from which no keyed list can be reached
// are left out.
//
//	cd src/engine/schema/generate && go run . > ../builtin.rs
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
)

// packages of kinds: module, directory, API group, version.
var packages = []struct{ module, dir, group, version string }{
	{"k8s.io/api", "admissionregistration/v1", "admissionregistration.k8s.io", "v1"},
	{"k8s.io/api", "admissionregistration/v1beta1", "admissionregistration.k8s.io", "v1beta1"},
	{"k8s.io/api", "apps/v1", "apps", "v1"},
	{"k8s.io/api", "authentication/v1", "authentication.k8s.io", "v1"},
	{"k8s.io/api", "authentication/v1beta1", "authentication.k8s.io", "v1beta1"},
	{"k8s.io/api", "authorization/v1", "authorization.k8s.io", "v1"},
	{"k8s.io/api", "authorization/v1beta1", "authorization.k8s.io", "v1beta1"},
	{"k8s.io/api", "autoscaling/v1", "autoscaling", "v1"},
	{"k8s.io/api", "autoscaling/v2beta1", "autoscaling", "v2beta1"},
	{"k8s.io/api", "autoscaling/v2beta2", "autoscaling", "v2beta2"},
	{"k8s.io/api", "batch/v1", "batch", "v1"},
	{"k8s.io/api", "batch/v1beta1", "batch", "v1beta1"},
	{"k8s.io/api", "certificates/v1", "certificates.k8s.io", "v1"},
	{"k8s.io/api", "certificates/v1beta1", "certificates.k8s.io", "v1beta1"},
	{"k8s.io/api", "coordination/v1", "coordination.k8s.io", "v1"},
	{"k8s.io/api", "coordination/v1beta1", "coordination.k8s.io", "v1beta1"},
	{"k8s.io/api", "core/v1", "", "v1"},
	{"k8s.io/api", "discovery/v1", "discovery.k8s.io", "v1"},
	{"k8s.io/api", "discovery/v1beta1", "discovery.k8s.io", "v1beta1"},
	{"k8s.io/api", "events/v1", "events.k8s.io", "v1"},
	{"k8s.io/api", "events/v1beta1", "events.k8s.io", "v1beta1"},
	{"k8s.io/api", "extensions/v1beta1", "extensions", "v1beta1"},
	{"k8s.io/api", "flowcontrol/v1beta1", "flowcontrol.apiserver.k8s.io", "v1beta1"},
	{"k8s.io/api", "networking/v1", "networking.k8s.io", "v1"},
	{"k8s.io/api", "networking/v1beta1", "networking.k8s.io", "v1beta1"},
	{"k8s.io/api", "node/v1", "node.k8s.io", "v1"},
	{"k8s.io/api", "node/v1beta1", "node.k8s.io", "v1beta1"},
	{"k8s.io/api", "policy/v1", "policy", "v1"},
	{"k8s.io/api", "policy/v1beta1", "policy", "v1beta1"},
	{"k8s.io/api", "rbac/v1", "rbac.authorization.k8s.io", "v1"},
	{"k8s.io/api", "rbac/v1beta1", "rbac.authorization.k8s.io", "v1beta1"},
	{"k8s.io/api", "scheduling/v1", "scheduling.k8s.io", "v1"},
	{"k8s.io/api", "scheduling/v1beta1", "scheduling.k8s.io", "v1beta1"},
	{"k8s.io/api", "storage/v1", "storage.k8s.io", "v1"},
	{"k8s.io/api", "storage/v1beta1", "storage.k8s.io", "v1beta1"},
	{"k8s.io/apiextensions-apiserver", "pkg/apis/apiextensions/v1", "apiextensions.k8s.io", "v1"},
	{"k8s.io/apiextensions-apiserver", "pkg/apis/apiextensions/v1beta1", "apiextensions.k8s.io", "v1beta1"},
	{"k8s.io/kube-aggregator", "pkg/apis/apiregistration/v1", "apiregistration.k8s.io", "v1"},
	{"k8s.io/kube-aggregator", "pkg/apis/apiregistration/v1beta1", "apiregistration.k8s.io", "v1beta1"},
	{"k8s.io/apimachinery", "pkg/apis/meta/v1", "", ""},
	{"k8s.io/apimachinery", "pkg/api/resource", "", ""},
	{"k8s.io/apimachinery", "pkg/util/intstr", "", ""},
	{"k8s.io/apimachinery", "pkg/runtime", "", ""},
}

// Types with metadata that no API path of a 1.21 server serves, and that its schema therefore lacks. Of
// extensions/v1beta1 only Ingress is served.
var notServed = map[string]bool{
	"core/v1.PodStatusResult": true, "core/v1.RangeAllocation": true,
}

type field struct {
	name, target string // target: definition of the value or of a list's items; "" for scalars
	list         bool
	merged       bool
	keys         []string
}

type definition struct {
	fields []field
	isKind bool
}

var defs = map[string]*definition{}

// goPath maps an import path to the name of its package in defs.
var goPath = map[string]string{}

func main() {
	dirs := map[string]string{}
	for _, m := range []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/apiextensions-apiserver", "k8s.io/kube-aggregator"} {
		out, err := exec.Command("go", "mod", "download", "-json", m+"@v0.21.2").Output()
		check(err)
		var info struct{ Dir string }
		check(json.Unmarshal(out, &info))
		dirs[m] = info.Dir
	}
	for _, p := range packages {
		goPath[p.module+"/"+p.dir] = short(p.dir)
	}
	for _, p := range packages {
		files, err := filepath.Glob(filepath.Join(dirs[p.module], p.dir, "*.go"))
		check(err)
		for _, f := range files {
			if !strings.HasSuffix(f, "_test.go") && !strings.Contains(filepath.Base(f), "generated") {
				readFile(f, short(p.dir))
			}
		}
	}
	write()
}

func short(dir string) string { return strings.TrimPrefix(dir, "pkg/apis/") }

func readFile(path, pkg string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	check(err)
	imports := map[string]string{}
	for _, i := range file.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		name := path[strings.LastIndex(path, "/")+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = goPath[path]
	}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, s := range g.Specs {
			spec := s.(*ast.TypeSpec)
			name := pkg + "." + spec.Name.Name
			switch t := spec.Type.(type) {
			case *ast.StructType:
				readStruct(t, name, pkg, imports)
			case *ast.Ident, *ast.SelectorExpr, *ast.MapType, *ast.ArrayType:
				target, list := resolve(t, pkg, imports)
				// A named list or map: a definition with one nameless field.
				defs[name] = &definition{fields: []field{{target: target, list: list}}}
			}
		}
	}
}

func readStruct(t *ast.StructType, name, pkg string, imports map[string]string) {
	d := &definition{}
	meta := 0
	for _, f := range t.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
		target, list := resolve(f.Type, pkg, imports)
		if strings.HasSuffix(target, ".TypeMeta") || (len(f.Names) <= 1 && (strings.HasSuffix(target, ".ObjectMeta") || strings.HasSuffix(target, ".ListMeta"))) {
			meta++
		}
		jsonName, _, _ := strings.Cut(tag.Get("json"), ",")
		if jsonName == "" {
			if strings.Contains(tag.Get("json"), "inline") {
				d.fields = append(d.fields, field{target: target})
			}
			continue
		}
		x := field{name: jsonName, target: target, list: list}
		x.merged = strings.Contains(tag.Get("patchStrategy"), "merge")
		for _, line := range strings.Split(f.Doc.Text(), "\n") {
			if key, ok := strings.CutPrefix(strings.TrimSpace(line), "+listMapKey="); ok {
				x.keys = append(x.keys, key)
			}
		}
		if key := tag.Get("patchMergeKey"); len(x.keys) == 0 && key != "" {
			x.keys = []string{key}
		}
		d.fields = append(d.fields, x)
	}
	d.isKind = meta >= 2
	defs[name] = d
}

// resolve gives the definition that a type leads to, through pointers and maps, and whether it is a list.
func resolve(e ast.Expr, pkg string, imports map[string]string) (string, bool) {
	switch t := e.(type) {
	case *ast.StarExpr:
		return resolve(t.X, pkg, imports)
	case *ast.ArrayType:
		target, _ := resolve(t.Elt, pkg, imports)
		return target, true
	case *ast.Ident:
		if ast.IsExported(t.Name) {
			return pkg + "." + t.Name, false
		}
	case *ast.SelectorExpr:
		if p := imports[t.X.(*ast.Ident).Name]; p != "" {
			return p + "." + t.Sel.Name, false
		}
	}
	return "", false
}

// flatten replaces inlined fields by those of the inlined struct.
func flatten(name string) []field {
	var out []field
	for _, f := range defs[name].fields {
		if f.name == "" {
			if defs[f.target] != nil {
				out = append(out, flatten(f.target)...)
			}
			continue
		}
		out = append(out, f)
	}
	return out
}

func write() {
	flat := map[string][]field{}
	for name := range defs {
		flat[name] = flatten(name)
	}
	useful := map[string]bool{}
	for changed := true; changed; {
		changed = false
		for name, fields := range flat {
			for _, f := range fields {
				if !useful[name] && (f.merged && f.list || !f.list && useful[f.target]) {
					useful[name], changed = true, true
				}
			}
		}
	}
	type kind struct{ group, version, kind, def string }
	var kinds []kind
	reached := map[string]bool{}
	var reach func(string)
	reach = func(name string) {
		if reached[name] || !useful[name] {
			return
		}
		reached[name] = true
		for _, f := range flat[name] {
			if keep(f, useful) {
				reach(f.target)
			}
		}
	}
	for _, p := range packages {
		if p.version == "" {
			continue
		}
		for name, d := range defs {
			pkg, typ, _ := strings.Cut(name, ".")
			served := !notServed[name] && (p.group != "extensions" || strings.HasPrefix(typ, "Ingress"))
			if pkg == short(p.dir) && d.isKind && useful[name] && served && typ != "TypeMeta" {
				kinds = append(kinds, kind{p.group, p.version, typ, name})
				reach(name)
			}
		}
	}
	sort.Slice(kinds, func(i, j int) bool {
		a, b := kinds[i], kinds[j]
		return a.group+"/"+a.version+"/"+a.kind < b.group+"/"+b.version+"/"+b.kind
	})
	var names []string
	for name := range reached {
		names = append(names, name)
	}
	sort.Strings(names)
	index := map[string]int{}
	for i, name := range names {
		index[name] = i
	}
	fmt.Println("//! Generated by `generate/main.go` from the Go modules k8s.io/{api,apimachinery,apiextensions-apiserver,kube-aggregator}\n//! v0.21.2; do not edit.\n")
	fmt.Println("use super::{Definition, Field, List, NONE};\n")
	fmt.Println("/// Kinds with keyed lists, sorted by group, version and kind; the number is an index into [`DEFINITIONS`].")
	fmt.Printf("#[rustfmt::skip]\npub static KINDS: [(&str, &str, &str, u16); %d] = [\n", len(kinds))
	for _, k := range kinds {
		fmt.Printf("    (%q, %q, %q, %d),\n", k.group, k.version, k.kind, index[k.def])
	}
	fmt.Println("];\n")
	fmt.Printf("/// The names of the definitions: directory, version and type.\n#[rustfmt::skip]\npub static NAMES: [&str; %d] = [\n", len(names))
	for _, name := range names {
		fmt.Printf("    %q,\n", name)
	}
	fmt.Printf("];\n\n")
	fmt.Println("/// For each definition its fields that are keyed lists or lead to some.")
	fmt.Printf("#[rustfmt::skip]\npub static DEFINITIONS: [Definition; %d] = [\n", len(names))
	for _, name := range names {
		fmt.Printf("    // %s\n    Definition(&[\n", name)
		fields := flat[name]
		sort.Slice(fields, func(i, j int) bool { return fields[i].name < fields[j].name })
		for _, f := range fields {
			if !keep(f, useful) {
				continue
			}
			target := "NONE"
			if i, ok := index[f.target]; ok {
				target = fmt.Sprint(i)
			}
			list := "List::No"
			if f.list {
				list = fmt.Sprintf("List::Keyed(&[%s])", quoted(f.keys))
			}
			fmt.Printf("        Field { name: %q, target: %s, list: %s },\n", f.name, target, list)
		}
		fmt.Println("    ]),")
	}
	fmt.Println("];")
}

// keep tells whether a field matters: it is a keyed list, or leads to one.
func keep(f field, useful map[string]bool) bool {
	return f.list && f.merged || !f.list && useful[f.target]
}

func quoted(keys []string) string {
	q := make([]string, len(keys))
	for i, k := range keys {
		q[i] = fmt.Sprintf("%q", k)
	}
	return strings.Join(q, ", ")
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
