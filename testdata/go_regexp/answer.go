// Answer says what Go's regular expressions do: the other side of the tests of src/go-regexp.
//
//	go run answer.go match <matches.jsonl    each pattern with its error, or with the texts that match and those that do not
//	go run answer.go sets                    each name with the characters of [\p{name}\n\r] as a count and a hash
//	go run answer.go folding                 the letters that are the same but for their case, a line each
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"regexp"
	"regexp/syntax"
	"sort"
	"unicode"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	switch os.Args[1] {
	case "match":
		match(out)
	case "sets":
		sets(out)
	case "folding":
		folding(out)
	}
}

type answer struct {
	Pattern string   `json:"pattern"`
	Error   string   `json:"error,omitempty"`
	Yes     []string `json:"yes,omitempty"`
	No      []string `json:"no,omitempty"`
}

func match(out *bufio.Writer) {
	questions := json.NewDecoder(os.Stdin)
	answers := json.NewEncoder(out)
	answers.SetEscapeHTML(false)
	for questions.More() {
		var question answer
		if err := questions.Decode(&question); err != nil {
			panic(err)
		}
		a := answer{Pattern: question.Pattern}
		re, err := regexp.Compile(a.Pattern)
		if err != nil {
			a.Error = err.Error()
		} else {
			for _, text := range append(question.Yes, question.No...) {
				if re.MatchString(text) {
					a.Yes = append(a.Yes, text)
				} else {
					a.No = append(a.No, text)
				}
			}
		}
		answers.Encode(a)
	}
}

func sets(out *bufio.Writer) {
	names := []string{"Any", "ASCII", "Assigned", "any", "greek", "l_u", "Lowercase-Letter", "Old Italic", "Nope", "Zyyy"}
	for name := range unicode.Categories {
		names = append(names, name)
	}
	for name := range unicode.CategoryAliases {
		names = append(names, name)
	}
	for name := range unicode.Scripts {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		for _, flag := range []string{"", "(?i)"} {
			re, err := syntax.Parse(flag+`[\p{`+name+`}\n\r]`, syntax.Perl)
			if err != nil {
				fmt.Fprintf(out, "%s%s\trefused\n", flag, name)
				continue
			}
			if re.Op == syntax.OpAnyChar {
				re.Rune = []rune{0, unicode.MaxRune}
			}
			count, hash := 0, fnv.New64a()
			for i := 0; i < len(re.Rune); i += 2 {
				for c := re.Rune[i]; c <= re.Rune[i+1]; c++ {
					if c < 0xD800 || c > 0xDFFF {
						count++
						hash.Write([]byte(string(c)))
					}
				}
			}
			fmt.Fprintf(out, "%s%s\t%d\t%016x\n", flag, name, count, hash.Sum64())
		}
	}
}

func folding(out *bufio.Writer) {
	for c := rune(0); c <= unicode.MaxRune; c++ {
		letters := string(c)
		isFirst := true
		for other := unicode.SimpleFold(c); other != c; other = unicode.SimpleFold(other) {
			isFirst = isFirst && other > c
			letters += string(other)
		}
		if isFirst && letters != string(c) {
			fmt.Fprintln(out, letters)
		}
	}
}
