// Package krusty builds kustomizations as kustomize's package of the same name does, with
// rustomize: the same bytes, without a lock, in a small part of the time. A program that imports
// sigs.k8s.io/kustomize/api/krusty imports this package instead, and changes nothing else:
//
//	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fSys, "overlays/prod")
//
// RunYAML gives the same as bytes, without a parse in Go: most of the time of Run is that parse.
//
// Builds share nothing, and any number of them run at once. They keep no state, touch no global
// schema and do not panic: the engine is a WebAssembly program, whose instances have limits of
// memory and are thrown away after a fault.
//
// # Files
//
// All files come from the filesys.FileSystem of the caller, by CleanedAbs and ReadFile; messages
// ask ReadDir and IsDir, too, for names that may be meant. An error of the file system ends the
// build unless it says that a file does not exist, and errors.Is finds it in the error of the
// build. Its methods are called on one goroutine at a time, which is not the caller's.
//
// # What runs in the host
//
// Git repositories are cloned by the program git, and files are fetched over HTTP, in this process,
// as kustomize does it; a clone is read through the file system of the caller, and is removed when
// the build ends. Builds that need helm, functions or plugins, and whose options allow them, are made by kustomize's own
// package, one at a time: it has global state.
package krusty
