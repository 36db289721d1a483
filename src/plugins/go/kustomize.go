// A kustomize plugin, called with texts.
//
// `rustomize plugin build` compiles this file together with the unchanged source of a plugin, so everything here has a name that no
// plugin has: imports too, for an import may not be named like anything that the package declares.

package main

import (
	rzJSON "encoding/json"
	rzFmt "fmt"
	rzOS "os"
	rzFilepath "path/filepath"
	rzReflect "reflect"
	rzRuntime "runtime"
	rzDebug "runtime/debug"
	rzStrings "strings"

	rzIfc "sigs.k8s.io/kustomize/api/ifc"
	rzProvider "sigs.k8s.io/kustomize/api/provider"
	rzResmap "sigs.k8s.io/kustomize/api/resmap"
	rzTypes "sigs.k8s.io/kustomize/api/types"
)

// What a call is for, and how it went: as in rustomize_plugin.h.
const (
	rzGenerate  = 1
	rzTransform = 2
	rzValidate  = 3

	rzOK          = 0
	rzError       = 1
	rzPanic       = 2
	rzUnsupported = 3
)

// The methods of a plugin: Config in its present form, and in that of older plugins.
type (
	rzConfigurable interface {
		Config(helpers *rzResmap.PluginHelpers, config []byte) error
	}
	rzConfigurableOnce interface {
		Config(loader rzIfc.Loader, factory *rzResmap.Factory, config []byte) error
	}
	rzGenerator interface {
		Generate() (rzResmap.ResMap, error)
	}
	rzTransformer interface {
		Transform(resources rzResmap.ResMap) error
	}
)

// rzRequest is what a plugin is asked for.
type rzRequest struct {
	mode                             uint32
	config, root, resources, options string
}

// rzDescribe says what a plugin can do, as JSON.
func rzDescribe(symbol any) string {
	modes := []string{}
	if _, ok := symbol.(rzGenerator); ok {
		modes = append(modes, "generate")
	}
	if _, ok := symbol.(rzTransformer); ok {
		modes = append(modes, "transform", "validate")
	}
	description := map[string]any{"modes": modes, "language": "go", "toolchain": rzRuntime.Version()}
	if build, ok := rzDebug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if module.Path == "sigs.k8s.io/kustomize/api" {
				description["kustomizeApi"] = module.Version
			}
		}
	}
	text, err := rzJSON.Marshal(description)
	if err != nil {
		return "{}"
	}
	return string(text)
}

// rzRun configures a copy of a plugin and calls it. It gives how it went, and the resources or what went wrong.
func rzRun(symbol any, request rzRequest) (status int32, text string) {
	defer func() {
		if fault := recover(); fault != nil {
			status, text = rzPanic, rzFmt.Sprintf("%v\n%s", fault, rzDebug.Stack())
		}
	}()
	plugin := rzCopy(symbol)
	provider := rzProvider.NewDefaultDepProvider()
	factory := rzResmap.NewFactory(provider.GetResourceFactory())
	loader, err := rzNewLoader(request.root, request.options)
	if err != nil {
		return rzError, err.Error()
	}
	switch configurable := plugin.(type) {
	case rzConfigurable:
		var general *rzTypes.PluginConfig
		if general, err = rzGeneralConfig(request.options); err == nil {
			helpers := rzResmap.NewPluginHelpers(loader, provider.GetFieldValidator(), factory, general)
			err = configurable.Config(helpers, []byte(request.config))
		}
	case rzConfigurableOnce:
		err = configurable.Config(loader, factory, []byte(request.config))
	default:
		return rzError, "KustomizePlugin has no method Config that this knows: " +
			"Config(*resmap.PluginHelpers, []byte) error or Config(ifc.Loader, *resmap.Factory, []byte) error"
	}
	if err != nil {
		return rzError, err.Error()
	}
	resources, status, err := rzCall(plugin, factory, request)
	if err != nil {
		return status, err.Error()
	}
	return rzPrint(resources)
}

// rzGeneralConfig is what the command line says of plugins, helm and functions. Fields that this version of kustomize's packages does not have
// are left out.
func rzGeneralConfig(options string) (*rzTypes.PluginConfig, error) {
	var given struct {
		Helm      rzJSON.RawMessage `json:"helm"`
		Functions rzJSON.RawMessage `json:"functions"`
	}
	if err := rzJSON.Unmarshal([]byte(options), &given); err != nil {
		return nil, err
	}
	general := rzTypes.EnabledPluginConfig(rzTypes.BploUseStaticallyLinked)
	for name, value := range map[string]rzJSON.RawMessage{"HelmConfig": given.Helm, "FnpLoadingOptions": given.Functions} {
		if value == nil {
			continue
		}
		text, err := rzJSON.Marshal(map[string]rzJSON.RawMessage{name: value})
		if err != nil {
			return nil, err
		}
		if err := rzJSON.Unmarshal(text, general); err != nil {
			return nil, err
		}
	}
	return general, nil
}

func rzCall(plugin any, factory *rzResmap.Factory, request rzRequest) (rzResmap.ResMap, int32, error) {
	if request.mode == rzGenerate {
		generator, ok := plugin.(rzGenerator)
		if !ok {
			return nil, rzUnsupported, rzFmt.Errorf("it has no method Generate")
		}
		resources, err := generator.Generate()
		return resources, rzError, err
	}
	transformer, ok := plugin.(rzTransformer)
	if !ok {
		return nil, rzUnsupported, rzFmt.Errorf("it has no method Transform")
	}
	resources := rzResmap.New()
	if rzStrings.TrimSpace(request.resources) != "" {
		var err error
		if resources, err = factory.NewResMapFromBytes([]byte(request.resources)); err != nil {
			return nil, rzError, err
		}
	}
	rzTakeVars(resources)
	err := transformer.Transform(resources)
	if err == nil {
		rzNoteVars(resources)
	}
	return resources, rzError, err
}

// rzRefBy holds the names of the variables whose values a resource has. kustomize keeps them beside the annotations.
const rzRefBy = "internal.config.kubernetes.io/refBy"

func rzTakeVars(resources rzResmap.ResMap) {
	for _, resource := range resources.Resources() {
		annotations := resource.GetAnnotations()
		if names, ok := annotations[rzRefBy]; ok {
			for _, name := range rzStrings.Split(names, ",") {
				resource.AppendRefVarName(rzTypes.Var{Name: name})
			}
			delete(annotations, rzRefBy)
			resource.SetAnnotations(annotations)
		}
	}
}

func rzNoteVars(resources rzResmap.ResMap) {
	for _, resource := range resources.Resources() {
		if names := resource.GetRefVarNames(); len(names) > 0 {
			annotations := resource.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[rzRefBy] = rzStrings.Join(names, ",")
			resource.SetAnnotations(annotations)
		}
	}
}

// rzPrint prints resources with the annotations in which kustomize keeps what a build knows of them, in their order, comments and all.
func rzPrint(resources rzResmap.ResMap) (int32, string) {
	if resources == nil {
		return rzOK, ""
	}
	var text rzStrings.Builder
	for i, resource := range resources.Resources() {
		if i > 0 {
			text.WriteString("---\n")
		}
		printed, err := rzText(resource)
		if err != nil {
			return rzError, err.Error()
		}
		text.WriteString(printed)
	}
	return rzOK, text.String()
}

// rzText prints a resource. Old versions of kustomize's packages keep its node in a field of their own and give a copy.
func rzText(resource any) (string, error) {
	value := rzReflect.ValueOf(resource)
	node := rzReflect.Indirect(value).FieldByName("RNode")
	if method := value.MethodByName("AsRNode"); !node.IsValid() && method.IsValid() {
		node = method.Call(nil)[0]
	}
	if node.IsValid() && node.CanAddr() && node.Kind() != rzReflect.Pointer {
		node = node.Addr()
	}
	if node.IsValid() {
		if printer, ok := node.Interface().(interface{ String() (string, error) }); ok {
			return printer.String()
		}
	}
	return "", rzFmt.Errorf("a resource of this version of kustomize's packages cannot be printed")
}

// rzCopy copies what KustomizePlugin points to: a call leaves nothing for the next.
func rzCopy(symbol any) any {
	value := rzReflect.Indirect(rzReflect.ValueOf(symbol))
	copied := rzReflect.New(value.Type())
	copied.Elem().Set(value)
	return copied.Interface()
}

// rzLoader reads files for a plugin: those in or below the root, unless the build allows all.
type rzLoader struct {
	root         string
	unrestricted bool
}

func rzNewLoader(root, options string) (*rzLoader, error) {
	var given struct {
		LoadRestrictor string `json:"loadRestrictor"`
	}
	if err := rzJSON.Unmarshal([]byte(options), &given); err != nil {
		return nil, err
	}
	real, err := rzFilepath.EvalSymlinks(root)
	return &rzLoader{root: real, unrestricted: given.LoadRestrictor == "LoadRestrictionsNone"}, err
}

func (l *rzLoader) Repo() string   { return "" }
func (l *rzLoader) Root() string   { return l.root }
func (l *rzLoader) Cleanup() error { return nil }

func (l *rzLoader) New(root string) (rzIfc.Loader, error) {
	if !rzFilepath.IsAbs(root) {
		root = rzFilepath.Join(l.root, root)
	}
	real, err := rzFilepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	if info, err := rzOS.Stat(real); err != nil || !info.IsDir() {
		return nil, rzFmt.Errorf("'%s' is not a directory", root)
	}
	return &rzLoader{root: real, unrestricted: l.unrestricted}, nil
}

func (l *rzLoader) Load(path string) ([]byte, error) {
	if rzStrings.Contains(path, "://") {
		return nil, rzFmt.Errorf("'%s': a plugin reads files of this machine only", path)
	}
	if !rzFilepath.IsAbs(path) {
		path = rzFilepath.Join(l.root, path)
	}
	if !l.unrestricted {
		real, err := rzFilepath.EvalSymlinks(path)
		if err != nil {
			return nil, err
		}
		if inside, err := rzFilepath.Rel(l.root, real); err != nil || inside == ".." || rzStrings.HasPrefix(inside, "../") {
			return nil, rzFmt.Errorf("security; file '%s' is not in or below '%s'", path, l.root)
		}
	}
	return rzOS.ReadFile(path)
}
