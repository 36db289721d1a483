// Package rustomize is for plugins for rustomize in Go: one file, which needs no module.
//
// A plugin is a struct. Its fields are read from the configuration object; its methods Generate,
// Transform and Validate are its roles.
//
//	type TeamLabel struct {
//		Team string `json:"team" doc:"The team that owns the resources."`
//	}
//
//	func (t *TeamLabel) Transform(_ rustomize.Call, resources []rustomize.Object) ([]rustomize.Object, error) {
//		for _, resource := range resources {
//			resource.Map("metadata", "labels")["team"] = t.Team
//		}
//		return resources, nil
//	}
//
//	func main() {
//		rustomize.Main(rustomize.Plugin{
//			Version: "0.1.0", APIVersion: "example.com/v1", Kind: "TeamLabel", Summary: "Sets the label team.",
//		}, &TeamLabel{})
//	}
//
// The argument "describe" prints what the plugin says of itself, with a JSON Schema of the fields. A
// field is required unless it is a pointer or its tag says omitempty. rustomize holds a configuration
// object to the schema before it runs the plugin, so nothing checks it again here.
package rustomize

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
)

// SDKVersion is the version of this file.
const SDKVersion = "0.1.0"

// Plugin is what a plugin says of itself beside its fields and roles.
type Plugin struct {
	// Version of the plugin, as in 1.2.3.
	Version string
	// APIVersion and Kind of its configuration objects.
	APIVersion, Kind string
	// Summary is one sentence: what the plugin does.
	Summary string
	// Worker says that one process may answer several calls.
	Worker bool
}

// Call says where a plugin is called, and for which configuration object.
type Call struct {
	// Name is metadata.name of the configuration object.
	Name string
	// Root is the directory of the kustomization that lists the plugin.
	Root string
}

// Generator is a plugin that returns resources to add.
type Generator interface {
	Generate(call Call) ([]Object, error)
}

// Transformer is a plugin that returns the resources that are to exist afterwards.
type Transformer interface {
	Transform(call Call, resources []Object) ([]Object, error)
}

// Validator is a plugin that returns an error if resources are wrong.
type Validator interface {
	Validate(call Call, resources []Object) error
}

// Object is a resource.
type Object map[string]any

// Map returns the mapping at a path, which it makes where there is none.
func (o Object) Map(path ...string) map[string]any {
	at := map[string]any(o)
	for _, key := range path {
		inner, ok := at[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			at[key] = inner
		}
		at = inner
	}
	return at
}

// Text returns the text at a path, or "" where there is none.
func (o Object) Text(path ...string) string {
	var at any = map[string]any(o)
	for _, key := range path {
		inner, _ := at.(map[string]any)
		at = inner[key]
	}
	text, _ := at.(string)
	return text
}

// Main runs a plugin, or prints what it says of itself. config is a pointer to the plugin's struct,
// which may hold defaults.
func Main(plugin Plugin, config any) {
	if err := run(plugin, config); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(plugin Plugin, config any) error {
	if len(os.Args) < 2 {
		return errors.New("expected the name of a file with the configuration, or 'describe'")
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	if len(os.Args) == 2 && os.Args[1] == "worker" && plugin.Worker {
		return work(plugin, config)
	}
	if len(os.Args) == 2 && os.Args[1] == "describe" {
		out.SetIndent("", "  ")
		return out.Encode(Describe(plugin, config))
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	role := os.Getenv("RUSTOMIZE_PLUGIN_ROLE")
	if role == "" {
		role = map[string]string{"generate": "generator", "transform": "transformer"}[os.Getenv("KUSTOMIZE_PLUGIN_MODE")]
	}
	return answer(os.Stdout, plugin, config, request{role, text, root, os.Stdin})
}

// request is one call of a plugin.
type request struct {
	role      string
	config    []byte
	root      string
	resources io.Reader
}

// answer writes what a plugin prints for a request.
func answer(to io.Writer, plugin Plugin, config any, asked request) error {
	text := asked.config
	out := json.NewEncoder(to)
	out.SetEscapeHTML(false)
	if !bytes.HasPrefix(text, []byte("{")) {
		return errors.New("the configuration is not JSON: install the plugin with 'rustomize plugin add', which sends JSON")
	}
	objects, err := read(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("the configuration: %w", err)
	}
	if err := json.Unmarshal(text, config); err != nil {
		return fmt.Errorf("the configuration: %w", err)
	}
	resources, err := call(plugin, config, Call{Name: objects[0].Text("metadata", "name"), Root: asked.root}, asked)
	if err != nil {
		return err
	}
	for _, resource := range resources {
		if err := out.Encode(resource); err != nil {
			return err
		}
	}
	return nil
}

// work answers requests, which come as frames on stdin, until stdin ends.
func work(plugin Plugin, config any) error {
	requests, answers := os.Stdin, os.Stdout
	// What the plugin prints is for people.
	os.Stdout = os.Stderr
	if err := send(answers, 0, []byte("{}")); err != nil {
		return err
	}
	for {
		var head [9]byte
		if _, err := io.ReadFull(requests, head[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		content := make([]byte, binary.LittleEndian.Uint64(head[1:]))
		if _, err := io.ReadFull(requests, content); err != nil {
			return err
		}
		var texts [4][]byte
		for i := range texts {
			size := binary.LittleEndian.Uint64(content)
			texts[i], content = content[8:8+size], content[8+size:]
		}
		var options struct{ Request uint64 }
		if err := json.Unmarshal(texts[3], &options); err != nil {
			return err
		}
		// Each call begins with the defaults.
		fresh := reflect.New(reflect.TypeOf(config).Elem())
		fresh.Elem().Set(reflect.ValueOf(config).Elem())
		role := [...]string{"generator", "transformer", "validator"}[head[0]-1]
		var printed bytes.Buffer
		printed.Write(binary.LittleEndian.AppendUint64(nil, options.Request))
		kind := byte(0)
		asked := request{role, texts[0], string(texts[1]), bytes.NewReader(texts[2])}
		if err := answer(&printed, plugin, fresh.Interface(), asked); err != nil {
			kind = 1
			printed.Truncate(8)
			printed.WriteString(err.Error())
		}
		if err := send(answers, kind, printed.Bytes()); err != nil {
			return err
		}
	}
}

// send writes a frame.
func send(to io.Writer, kind byte, content []byte) error {
	head := binary.LittleEndian.AppendUint64([]byte{kind}, uint64(len(content)))
	_, err := to.Write(append(head, content...))
	return err
}

// call lets a plugin do what is wanted. kustomize tells a validator to transform.
func call(plugin Plugin, config any, call Call, asked request) ([]Object, error) {
	generator, generates := config.(Generator)
	transformer, transforms := config.(Transformer)
	validator, validates := config.(Validator)
	role := asked.role
	if generates && (role == "generator" || role == "" || !transforms && !validates) {
		return generator.Generate(call)
	}
	resources, err := read(asked.resources)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the resources: %w", err)
	case role != "generator" && validates && (role == "validator" || !transforms):
		return nil, validator.Validate(call, resources)
	case role != "generator" && transforms:
		return transformer.Transform(call, resources)
	}
	return nil, fmt.Errorf("%s is not a %s", plugin.Kind, role)
}

// read reads JSON objects. Numbers keep their digits.
func read(from io.Reader) ([]Object, error) {
	decoder := json.NewDecoder(from)
	decoder.UseNumber()
	var objects []Object
	for {
		var object Object
		switch err := decoder.Decode(&object); err {
		case nil:
			objects = append(objects, object)
		case io.EOF:
			return objects, nil
		default:
			return nil, err
		}
	}
}

// Describe returns what a plugin says of itself: its version, its kind, its roles and its schema.
func Describe(plugin Plugin, config any) map[string]any {
	component := map[string]any{
		"apiVersion": plugin.APIVersion, "kind": plugin.Kind, "summary": plugin.Summary,
		"schema": Schema(plugin, config),
	}
	description := map[string]any{
		"version": plugin.Version, "api_version": "x1.0", "sdk_version": SDKVersion,
		"protocol": "exec", "format": "json",
	}
	if plugin.Worker {
		description["worker"] = true
	}
	if _, ok := config.(Generator); ok {
		description["generators"] = []any{component}
	}
	if _, ok := config.(Transformer); ok {
		description["transformers"] = []any{component}
	}
	if _, ok := config.(Validator); ok {
		description["validators"] = []any{component}
	}
	return description
}

// Schema returns the JSON Schema of a plugin's configuration objects.
func Schema(plugin Plugin, config any) map[string]any {
	schema := schemaOf(reflect.TypeOf(config), nil)
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = plugin.Kind
	schema["description"] = plugin.Summary
	properties := schema["properties"].(map[string]any)
	properties["apiVersion"] = map[string]any{"const": plugin.APIVersion}
	properties["kind"] = map[string]any{"const": plugin.Kind}
	properties["metadata"] = map[string]any{"type": "object"}
	schema["required"] = append([]string{"apiVersion", "kind"}, schema["required"].([]string)...)
	return schema
}

// schemaOf returns the schema of a type: of any value, where the type says nothing that JSON knows.
func schemaOf(of reflect.Type, parents []reflect.Type) map[string]any {
	switch of.Kind() {
	case reflect.Pointer:
		return schemaOf(of.Elem(), parents)
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": "array", "items": schemaOf(of.Elem(), parents)}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(of.Elem(), parents)}
	case reflect.Struct:
		for _, parent := range parents {
			if parent == of {
				// A type in itself has no end: its inner values may be anything.
				return map[string]any{}
			}
		}
		properties, required := map[string]any{}, []string{}
		addFields(of, append(parents, of), properties, &required)
		return map[string]any{
			"type": "object", "properties": properties, "required": required, "additionalProperties": false,
		}
	}
	return map[string]any{}
}

// addFields adds the fields of a struct, as encoding/json names them, to a schema.
func addFields(of reflect.Type, parents []reflect.Type, properties map[string]any, required *[]string) {
	for i := 0; i < of.NumField(); i++ {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct {
			addFields(field.Type, parents, properties, required)
			continue
		}
		if !field.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = field.Name
		}
		property := schemaOf(field.Type, parents)
		if doc := field.Tag.Get("doc"); doc != "" {
			property["description"] = doc
		}
		properties[name] = property
		if field.Type.Kind() != reflect.Pointer && !strings.Contains(options, "omitempty") {
			*required = append(*required, name)
		}
	}
}
