// judge reads the results of tests of other projects, as go test -json prints them, and compares
// them with a list of deviations. It prints counts, and fails for a test that fails and is not in
// the list, and for a test of the list that passes.
//
//	go test -json ./... | judge LIST CONTROL
//
// A line of the list is the name of a test, blanks, and the reason why its expectation differs. A
// test with subtests counts by its subtests. CONTROL has the results of the same tests with
// kustomize's own builds: a test that fails there, too, says nothing about ours, as one that asks a
// server that is not reached.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// ByKustomize is what a test prints that kustomize's own package has built: it says nothing about
// rustomize.
const ByKustomize = "judge: built by kustomize"

// event is a line of go test -json.
type event struct {
	Action, Package, ImportPath, Test, Output string
}

type test struct {
	name        string
	result      string
	byKustomize bool
	isParent    bool
	output      []string
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go test -json ./... | judge LIST CONTROL")
		os.Exit(2)
	}
	failed, err := judge(os.Args[1], os.Args[2], os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
	}
	if failed || err != nil {
		os.Exit(1)
	}
}

// judge returns true if the results differ from the list in the file.
func judge(file, control string, results io.Reader, report io.Writer) (bool, error) {
	list, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	others, err := os.Open(control)
	if err != nil {
		return false, err
	}
	defer others.Close()
	byKustomize, _, err := read(others)
	if err != nil {
		return false, err
	}
	failsThere := map[string]bool{}
	for _, test := range byKustomize {
		failsThere[test.name] = test.result == "fail"
	}
	known := deviations(string(list))
	tests, broken, err := read(results)
	if err != nil {
		return false, err
	}
	for _, output := range broken {
		fmt.Fprint(report, output)
	}
	var passed, named, notApplicable int
	failed := len(broken) > 0
	for _, test := range tests {
		if test.isParent {
			continue
		}
		reason, isKnown := known[test.name]
		delete(known, test.name)
		switch {
		case test.result == "skip" || test.byKustomize || test.result == "fail" && failsThere[test.name]:
			notApplicable++
		case test.result == "pass" && !isKnown:
			passed++
		case test.result == "fail" && isKnown:
			named++
		case test.result == "pass":
			failed = true
			fmt.Fprintf(report, "passes, and is a deviation: %s: %s\n", test.name, reason)
		default:
			failed = true
			fmt.Fprintf(report, "fails: %s\n%s", test.name, strings.Join(test.output, ""))
		}
	}
	for _, name := range sorted(known) {
		failed = true
		fmt.Fprintf(report, "does not exist, and is a deviation: %s\n", name)
	}
	fmt.Fprintf(report, "%d passed, %d failed as a named deviation, %d not applicable\n", passed, named, notApplicable)
	return failed, nil
}

// read returns the tests, and the output of packages that failed without a test that failed.
func read(results io.Reader) ([]*test, []string, error) {
	byName := map[string]*test{}
	var tests []*test
	packages := map[string][]string{}
	var broken []string
	lines := bufio.NewScanner(results)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		if e.Test == "" {
			switch e.Action {
			case "output":
				packages[e.Package] = append(packages[e.Package], e.Output)
			case "build-output":
				broken = append(broken, e.Output)
			case "fail":
				if !slices.ContainsFunc(tests, func(t *test) bool { return t.result == "fail" }) {
					broken = append(broken, packages[e.Package]...)
				}
			}
			continue
		}
		one := byName[e.Test]
		if one == nil {
			one = &test{name: e.Test}
			byName[e.Test] = one
			tests = append(tests, one)
			if parent, _, found := cutLast(e.Test); found && byName[parent] != nil {
				byName[parent].isParent = true
			}
		}
		switch e.Action {
		case "pass", "fail", "skip":
			one.result = e.Action
		case "output":
			one.output = append(one.output, e.Output)
			one.byKustomize = one.byKustomize || strings.Contains(e.Output, ByKustomize)
		}
	}
	return tests, broken, lines.Err()
}

func cutLast(name string) (string, string, bool) {
	at := strings.LastIndexByte(name, '/')
	if at < 0 {
		return "", "", false
	}
	return name[:at], name[at+1:], true
}

// deviations returns the reasons by the names of tests.
func deviations(list string) map[string]string {
	known := map[string]string{}
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, _ := strings.Cut(line, " ")
		known[name] = strings.TrimSpace(reason)
	}
	return known
}

func sorted(names map[string]string) []string {
	var all []string
	for name := range names {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
