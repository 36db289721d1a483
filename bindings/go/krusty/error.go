package krusty

import "encoding/json"

// Diagnostic is an error or a warning, with its place.
type Diagnostic struct {
	// "error" or "warning".
	Severity string `json:"severity"`
	// A word that stays the same from version to version, as "missing-file".
	Code    string `json:"code"`
	Message string `json:"message"`
	File    string `json:"file"`
	// From 1; 0 if the place is not known.
	Line   int `json:"line"`
	Column int `json:"column"`
	// The field, as names separated by dots.
	Field string `json:"field"`
	// The resource, as messages show it.
	Resource string   `json:"resource"`
	Hints    []string `json:"hints"`
	// The steps of the build that led here, innermost first.
	Chain []Step `json:"chain"`
}

// Step is a step of the build that led to a diagnostic.
type Step struct {
	Text   string `json:"text"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Error is the error of a build. errors.Is and errors.As find the errors of the file system in it.
type Error struct {
	Diagnostics []Diagnostic
	text        string
	causes      []error
}

func (e *Error) Error() string   { return e.text }
func (e *Error) Unwrap() []error { return e.causes }

// Code is the code of the first diagnostic.
func (e *Error) Code() string {
	if len(e.Diagnostics) == 0 {
		return ""
	}
	return e.Diagnostics[0].Code
}

// fault is an error that did not come from the engine.
func fault(code string, cause error) *Error {
	diagnostic := Diagnostic{Severity: "error", Code: code, Message: cause.Error()}
	return &Error{Diagnostics: []Diagnostic{diagnostic}, text: cause.Error(), causes: []error{cause}}
}

// end is the last message of a request.
type end struct {
	OK       bool         `json:"ok"`
	Errors   []Diagnostic `json:"errors"`
	Text     string       `json:"text"`
	Warnings []Diagnostic `json:"warnings"`
}

func parseEnd(message []byte) (end, error) {
	var parsed end
	err := json.Unmarshal(message, &parsed)
	return parsed, err
}
