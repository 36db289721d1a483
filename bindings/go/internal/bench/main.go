//go:build unix

// bench measures builds by this module beside builds by kustomize's own package, in one process:
//
//	bench [-cache DIRECTORY] first DIRECTORY           the first build of a process
//	bench [-cache DIRECTORY] one DIRECTORY...          the best of several builds of each directory
//	bench [-cache DIRECTORY] many N DIRECTORY          N builds of different trees on two goroutines
//	bench [-cache DIRECTORY] memory DIRECTORY          the largest memory of a process that builds it
//
// Times are those of the processor, so that other programs on the machine do not count. "many" has
// the time that passed, too, which says what two goroutines gain: the machine has to be idle for it.
// bindings/go/measure makes the trees and runs all of them.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/OWNER/rustomize/bindings/go/krusty"
	"golang.org/x/sys/unix"
	upstream "sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// used is the time that this process has used of all processors.
func used() time.Duration {
	var usage unix.Rusage
	must(unix.Getrusage(unix.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func main() {
	cache := flag.String("cache", "", "the directory for compiled code")
	flag.Parse()
	must(krusty.Prepare(*cache))
	loaded := used()
	args := flag.Args()
	switch args[0] {
	case "first":
		ours(args[1])
		fmt.Printf("first build: %v (loaded after %v)\n", used().Round(time.Millisecond), loaded.Round(time.Millisecond))
	case "one":
		for _, directory := range args[1:] {
			one(directory)
		}
	case "many":
		n, err := strconv.Atoi(args[1])
		must(err)
		many(n, args[2])
	case "memory":
		for range 3 {
			ours(args[1])
		}
		fmt.Printf("memory: %s\n", peak())
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func ours(directory string) string {
	output, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).RunYAML(filesys.MakeFsOnDisk(), directory)
	must(err)
	return string(output)
}

func resources(directory string) {
	_, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), directory)
	must(err)
}

func theirs(directory string) string {
	made, err := upstream.MakeKustomizer(upstream.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), directory)
	must(err)
	output, err := made.AsYaml()
	must(err)
	return string(output)
}

// best is the shortest time of some calls: up to 200, within three seconds.
func best(call func()) time.Duration {
	var shortest time.Duration
	begin := time.Now()
	for k := 0; k == 0 || k < 200 && time.Since(begin) < 3*time.Second; k++ {
		before := used()
		call()
		if took := used() - before; k == 0 || took < shortest {
			shortest = took
		}
	}
	return shortest
}

func one(directory string) {
	var got, want string
	ours(directory)
	bytes := best(func() { got = ours(directory) })
	parsed := best(func() { resources(directory) })
	kustomize := best(func() { want = theirs(directory) })
	if got != want {
		must(fmt.Errorf("%s: the outputs differ", directory))
	}
	fmt.Printf("%-24s RunYAML %10v  Run %10v  kustomize %10v  %.0f times\n", filepath.Base(directory),
		bytes.Round(time.Microsecond), parsed.Round(time.Microsecond), kustomize.Round(time.Microsecond),
		float64(kustomize)/float64(bytes))
}

// many builds n trees, each with a prefix of its own, on two goroutines.
func many(n int, directory string) {
	trees := make([]filesys.FileSystem, n)
	for k := range trees {
		trees[k] = filesys.MakeFsInMemory()
		must(filepath.Walk(directory, func(path string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return trees[k].WriteFile("base/"+strings.TrimPrefix(path, directory), content)
		}))
		must(trees[k].WriteFile("kustomization.yaml", []byte(fmt.Sprintf("namePrefix: n%d-\nresources: [base]\n", k))))
	}
	all := func(build func(filesys.FileSystem)) (processor, passed time.Duration) {
		before, begin := used(), time.Now()
		var wait sync.WaitGroup
		for half := range 2 {
			wait.Go(func() {
				for k := half; k < n; k += 2 {
					build(trees[k])
				}
			})
		}
		wait.Wait()
		return used() - before, time.Since(begin)
	}
	k := krusty.MakeKustomizer(krusty.MakeDefaultOptions())
	mine, minePassed := all(func(fSys filesys.FileSystem) {
		_, err := k.RunYAML(fSys, ".")
		must(err)
	})
	var lock sync.Mutex
	theirs, theirsPassed := all(func(fSys filesys.FileSystem) {
		lock.Lock()
		defer lock.Unlock()
		made, err := upstream.MakeKustomizer(upstream.MakeDefaultOptions()).Run(fSys, ".")
		must(err)
		_, err = made.AsYaml()
		must(err)
	})
	fmt.Printf("%d builds on two goroutines, kustomize behind its lock:\n", n)
	for _, took := range []struct {
		clock        string
		mine, theirs time.Duration
	}{{"processor", mine, theirs}, {"passed", minePassed, theirsPassed}} {
		fmt.Printf("  %-9s %v, kustomize %v, %.0f times\n", took.clock, took.mine.Round(time.Millisecond),
			took.theirs.Round(time.Millisecond), float64(took.theirs)/float64(took.mine))
	}
}

// peak is the largest memory of this process so far, as Linux counts it.
func peak() string {
	status, err := os.ReadFile("/proc/self/status")
	must(err)
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			return strings.TrimSpace(rest)
		}
	}
	return "unknown"
}
