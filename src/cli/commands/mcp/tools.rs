//! The tools of the server: their parameters as data, and the command of this program for a call.

use rustomize_sources::reach;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// A tool.
pub(crate) struct Tool {
    pub name: &'static str,
    title: &'static str,
    about: &'static str,
    parameters: &'static [Parameter],
    /// The words of the command for a call.
    words: fn(&Given<'_>) -> Result<Vec<String>, String>,
}

/// The command of this program for a call of a tool.
pub(crate) struct ToolCommand {
    /// The arguments of the program.
    pub words: Vec<String>,
    /// The bytes at the beginning of the result that are left out.
    pub offset: usize,
}

/// A parameter of a tool.
struct Parameter {
    name: &'static str,
    kind: Kind,
    is_required: bool,
    about: &'static str,
}

/// The type of a parameter's value.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    /// A text that names a file or directory.
    Path,
    Texts,
    Paths,
    Flag,
    /// A whole number from 0 on.
    Number,
}

const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, kind, is_required: false, about }
}

const fn required(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, kind, is_required: true, about }
}

/// The parameter that every tool has: a result is cut where it is long.
pub(crate) const OFFSET: &str = "offset";

const OFFSET_PARAMETER: Parameter = optional(
    OFFSET,
    Kind::Number,
    "Leave out so many bytes of the result: the end of a cut result says where it goes on",
);

const DIRECTORY: Parameter = optional(
    "directory",
    Kind::Path,
    "The directory with the kustomization [default: the first directory of the server]",
);

const COMPAT: Parameter =
    optional("compat", Kind::Text, "The version of kustomize whose bytes are wanted, as in 5.7.1 [default: 5.8.3]");

const SCHEMA_VERSION: Parameter =
    optional("kubernetes_version", Kind::Text, "The version of Kubernetes, as in 1.31 [default: the newest]");

/// The tools, in the order in which they are listed.
pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "build",
        title: "Build a kustomization",
        about: "Builds a kustomization and gives the resources as YAML, byte for byte as 'kustomize build' prints them. Values of \
            Secrets are in the result. An error names file, line and a mend.",
        parameters: &[DIRECTORY, COMPAT],
        words: |given| Ok([given.command(&["build", "--offline"]), given.directory()?].concat()),
    },
    Tool {
        name: "lint",
        title: "Find mistakes",
        about: "Builds a kustomization and gives findings with file, line, code and hint: entries without effect, references to \
            objects that do not exist, and other likely mistakes of which kustomize says nothing.",
        parameters: &[
            DIRECTORY,
            optional("all", Kind::Flag, "Look at every kustomization at and below the directory"),
            optional("schema", Kind::Flag, "Hold the resources to the schemas of their kinds, too"),
            SCHEMA_VERSION,
            optional("warn", Kind::Texts, "Codes of findings that are off by default, as clear-text-secret"),
            COMPAT,
        ],
        words: |given| {
            let mut words = given.command(&["lint", "--offline"]);
            words.extend(given.flag("all", "--all"));
            words.extend(given.flag("schema", "--schema"));
            words.extend(given.option("kubernetes_version", "--kubernetes-version"));
            words.extend(given.texts("warn").map(|code| format!("--warn={code}")));
            Ok([words, given.directory()?].concat())
        },
    },
    Tool {
        name: "explain",
        title: "Explain values, lines and codes",
        about: "Says where values of a build's output come from (file and line), and which steps have changed them. Without \
            'resource' it lists all resources with their files. With 'file' and 'line' it says what this line becomes in every \
            kustomization below the first directory of the server that reads it. With 'code' it gives the page of an error or a \
            finding. Values of Secrets are hidden.",
        parameters: &[
            DIRECTORY,
            optional("resource", Kind::Text, "NAME, KIND/NAME or KIND/NAMESPACE/NAME, as in Deployment/web"),
            optional("field", Kind::Text, "A path in the resource, as spec.template.spec.containers[name=web].image"),
            optional("file", Kind::Path, "A file, together with 'line'"),
            optional("line", Kind::Number, "A line of the file, from 1 on"),
            optional("code", Kind::Text, "The code of an error or a finding, as in no-match"),
        ],
        words: explain,
    },
    Tool {
        name: "diff",
        title: "Compare two builds",
        about: "Shows the differences of two builds, resource by resource and field by field, with renamed resources and name \
            hashes understood. The sides are two directories or files with resources ('old', 'new'), or a commit and the working \
            tree ('since'). Values of Secrets are hidden.",
        parameters: &[
            optional("old", Kind::Path, "The old side: a directory with a kustomization, or a file with resources"),
            optional("new", Kind::Path, "The new side"),
            optional(
                "since",
                Kind::Text,
                "A revision of git, or OLD..NEW, in place of 'old' and 'new'; HEAD for uncommitted changes",
            ),
            optional(
                "directories",
                Kind::Paths,
                "With 'since': the kustomizations [default: all that the change affects]",
            ),
            optional("leaves", Kind::Flag, "With 'since': leave out the kustomizations that others use"),
            optional("stat", Kind::Flag, "Give only the number of resources and fields for each kind"),
        ],
        words: diff,
    },
    Tool {
        name: "affected",
        title: "List what a change affects",
        about: "Lists the kustomizations that a change of files can affect. Nothing is built.",
        parameters: &[
            optional("files", Kind::Paths, "The files"),
            optional("since", Kind::Text, "A revision of git, or OLD..NEW: the files that differ"),
            optional("leaves", Kind::Flag, "Leave out the kustomizations that others use"),
        ],
        words: |given| {
            let files = given.paths("files")?;
            if files.is_empty() && given.text("since").is_none() {
                return Err("'files' or 'since' is missing".to_owned());
            }
            let mut words = given.command(&["affected"]);
            words.extend(given.option("since", "--since"));
            words.extend(given.flag("leaves", "--leaves"));
            Ok([words, vec!["--".to_owned()], files].concat())
        },
    },
    Tool {
        name: "tree",
        title: "Show the parts of kustomizations",
        about: "Shows the parts of a kustomization: bases, components, files and remote parts. Nothing is built.",
        parameters: &[DIRECTORY, optional("all", Kind::Flag, "Show every kustomization at and below the directory")],
        words: |given| {
            let mut words = given.command(&["tree"]);
            words.extend(given.flag("all", "--all"));
            Ok([words, given.directory()?].concat())
        },
    },
    Tool {
        name: "images",
        title: "List images",
        about: "Lists the images of all kustomizations at and below a directory, with the line that decides the tag of each. With \
            'set', shows the lines that change if images get another tag or digest wherever they are set; no file is written.",
        parameters: &[
            DIRECTORY,
            optional("leaves", Kind::Flag, "Leave out the kustomizations that others use"),
            optional("set", Kind::Texts, "Images with a new version, as in web:1.5 or web@sha256:0a1b"),
        ],
        words: |given| {
            let set: Vec<String> = given.texts("set").map(str::to_owned).collect();
            let mut words = match set.is_empty() {
                true => given.command(&["images", "--offline"]),
                false => given.command(&["images", "set", "--dry-run", "--all", "--offline"]),
            };
            words.extend(given.flag("leaves", "--leaves"));
            words.push("--".to_owned());
            Ok([words, set, vec![given.path("directory")?.unwrap_or_else(|| "./".to_owned())]].concat())
        },
    },
    Tool {
        name: "schema",
        title: "Show the fields of a kind",
        about: "Lists the fields of a kind of Kubernetes, or of Kustomization and Component, with their types; '!' marks required ones.",
        parameters: &[
            required(
                "kind",
                Kind::Text,
                "KIND or GROUP/VERSION/KIND, as in Deployment, v1/Pod, autoscaling/v2/HorizontalPodAutoscaler",
            ),
            optional(
                "field",
                Kind::Text,
                "A path of fields, as spec.template.spec.containers: the fields below it are listed",
            ),
            SCHEMA_VERSION,
        ],
        words: |given| {
            let mut words = given.command(&["openapi", "show"]);
            words.extend(given.option("kubernetes_version", "--kubernetes-version"));
            words.push("--".to_owned());
            words.extend([given.text("kind"), given.text("field")].into_iter().flatten().map(str::to_owned));
            Ok(words)
        },
    },
    Tool {
        name: "edit",
        title: "Show what an edit would change",
        about: "Shows the lines that 'rustomize edit' would change in a kustomization file, and changes nothing. The words are those of \
            'kustomize edit': [\"set\", \"image\", \"web=web:1.5\"], [\"add\", \"resource\", \"service.yaml\"], [\"remove\", \"label\", \
            \"tier\"], [\"fix\"]. The word --help after a verb gives its flags.",
        parameters: &[
            DIRECTORY,
            required("words", Kind::Texts, "The verb with its arguments and flags, each a word of its own"),
        ],
        words: |given| {
            let mut words = given.command(&["edit", "--dry-run"]);
            words.push(format!("--directory={}", given.path("directory")?.unwrap_or_else(|| ".".to_owned())));
            let verb: Vec<String> = given.texts("words").map(str::to_owned).collect();
            match verb.first().map(String::as_str) {
                Some("add" | "set" | "remove" | "fix") => Ok([words, verb].concat()),
                _ => Err("the first of 'words' is not add, set, remove or fix".to_owned()),
            }
        },
    },
];

/// The command for `explain`.
fn explain(given: &Given<'_>) -> Result<Vec<String>, String> {
    let words = given.command(&["explain", "--offline"]);
    let after = |rest: Vec<String>| Ok([words, vec!["--".to_owned()], rest].concat());
    if let Some(code) = given.text("code") {
        return after(vec![code.to_owned()]);
    }
    if let Some(file) = given.path("file")? {
        let line = given.number("line").ok_or("'line' is missing beside 'file'")?;
        let root = given.path("directory")?;
        return after([format!("{file}:{line}")].into_iter().chain(root).collect());
    }
    let root = given.path("directory")?.unwrap_or_else(|| ".".to_owned());
    let (resource, field) = (given.text("resource"), given.text("field"));
    if field.is_some() && resource.is_none() {
        return Err("'resource' is missing beside 'field'".to_owned());
    }
    after([root].into_iter().chain([resource, field].into_iter().flatten().map(str::to_owned)).collect())
}

/// The command for `diff`.
fn diff(given: &Given<'_>) -> Result<Vec<String>, String> {
    let mut words = given.command(&["diff", "--offline"]);
    words.extend(given.flag("stat", "--stat"));
    words.extend(given.flag("leaves", "--leaves"));
    let sides = match (given.path("old")?, given.path("new")?, given.text("since")) {
        (Some(old), Some(new), None) => vec![old, new],
        (None, None, Some(_)) => {
            words.extend(given.option("since", "--since"));
            given.paths("directories")?
        }
        _ => return Err("either 'old' and 'new' or 'since' is needed".to_owned()),
    };
    Ok([words, vec!["--".to_owned()], sides].concat())
}

impl Tool {
    /// The tool with a name.
    pub(crate) fn named(name: &str) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().chain([&OFFSET_PARAMETER])
    }

    /// The tool as the protocol describes it.
    pub(crate) fn described(&self) -> Value {
        let properties: Map<String, Value> = self.parameters().map(|p| (p.name.to_owned(), p.schema())).collect();
        let required: Vec<&str> = self.parameters().filter(|p| p.is_required).map(|p| p.name).collect();
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.about,
            "inputSchema": {
                "type": "object", "properties": properties, "required": required, "additionalProperties": false,
            },
            "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false},
        })
    }

    /// The command for a call.
    /// `directories` are those that may be read; a relative path begins at the first one.
    ///
    /// # Errors
    /// The arguments do not fit, or a path leads out of the directories.
    pub(crate) fn command(&self, arguments: &Value, directories: &[PathBuf]) -> Result<ToolCommand, String> {
        let empty = Map::new();
        let values = match arguments {
            Value::Object(values) => values,
            Value::Null => &empty,
            _ => return Err("'arguments' is not an object".to_owned()),
        };
        for (name, value) in values {
            let Some(parameter) = self.parameters().find(|parameter| parameter.name == name) else {
                let known: Vec<&str> = self.parameters().map(|parameter| parameter.name).collect();
                return Err(format!("unknown parameter '{name}': '{}' takes {}", self.name, known.join(", ")));
            };
            parameter.check(value)?;
        }
        if let Some(missing) = self.parameters().find(|p| p.is_required && !values.contains_key(p.name)) {
            return Err(format!("'{}' is missing: {}", missing.name, missing.about));
        }
        let given = Given { values, directories };
        let offset = given.number(OFFSET).unwrap_or_default();
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        Ok(ToolCommand { words: (self.words)(&given)?, offset })
    }
}

impl Parameter {
    /// The parameter's type as JSON Schema.
    fn schema(&self) -> Value {
        match self.kind {
            Kind::Text | Kind::Path => json!({"type": "string", "description": self.about}),
            Kind::Texts | Kind::Paths => {
                json!({"type": "array", "items": {"type": "string"}, "description": self.about})
            }
            Kind::Flag => json!({"type": "boolean", "description": self.about}),
            Kind::Number => json!({"type": "integer", "minimum": 0, "description": self.about}),
        }
    }

    /// Refuses a value of another type, and a text that no program can get as an argument.
    fn check(&self, value: &Value) -> Result<(), String> {
        let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.contains('\0'));
        let (fits, expected) = match self.kind {
            Kind::Text | Kind::Path => (is_text(value), "a string without NUL"),
            Kind::Texts | Kind::Paths => {
                (value.as_array().is_some_and(|items| items.iter().all(is_text)), "a list of strings without NUL")
            }
            Kind::Flag => (value.is_boolean(), "true or false"),
            Kind::Number => (value.is_u64(), "a whole number from 0 on"),
        };
        if fits { Ok(()) } else { Err(format!("'{}' is not {expected}", self.name)) }
    }
}

/// The arguments of a call, whose types were checked.
struct Given<'a> {
    values: &'a Map<String, Value>,
    directories: &'a [PathBuf],
}

impl Given<'_> {
    /// The first words of the command, with its messages as data.
    fn command(&self, words: &[&str]) -> Vec<String> {
        let words = words.iter().copied().chain(["--error-format=json", "--color=never"]).map(str::to_owned);
        words.chain(self.option("compat", "--compat")).collect()
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.as_str()
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.values.get(name)?.as_u64()
    }

    fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.values.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// A flag of the command, if its parameter is true.
    fn flag(&self, name: &str, flag: &str) -> Option<String> {
        self.values.get(name)?.as_bool()?.then(|| flag.to_owned())
    }

    /// A flag of the command with the value of its parameter.
    fn option(&self, name: &str, flag: &str) -> Option<String> {
        Some(format!("{flag}={}", self.text(name)?))
    }

    /// The file or directory that a parameter names.
    fn path(&self, name: &str) -> Result<Option<String>, String> {
        self.text(name).map(|path| self.in_reach(path)).transpose()
    }

    fn paths(&self, name: &str) -> Result<Vec<String>, String> {
        self.texts(name).map(|path| self.in_reach(path)).collect()
    }

    /// The end of a command that takes a directory.
    fn directory(&self) -> Result<Vec<String>, String> {
        Ok(vec!["--".to_owned(), self.path("directory")?.unwrap_or_else(|| ".".to_owned())])
    }

    /// A path as an argument, which is taken for nothing but a path.
    fn in_reach(&self, path: &str) -> Result<String, String> {
        let first = self.directories.first().cloned().unwrap_or_default();
        if path.is_empty() || !reach::is_in(self.directories, &first.join(path)) {
            let all: Vec<String> = self.directories.iter().map(|directory| directory.display().to_string()).collect();
            return Err(format!(
                "'{path}' is outside of the directories of this server\n  hint: name a path at or below {}; relative ones \
                 begin at {}",
                all.join(" or "),
                first.display()
            ));
        }
        let is_plain = path.starts_with(['/', '.']) || !(path.starts_with('-') || path.contains([':', '@', '?']));
        Ok(if is_plain { path.to_owned() } else { format!("./{path}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn command(tool: &str, arguments: Value) -> Result<String, String> {
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).canonicalize().unwrap();
        Tool::named(tool).unwrap().command(&arguments, &[here]).map(|command| command.words.join(" "))
    }

    #[test]
    fn every_tool_is_described() {
        for tool in TOOLS {
            assert!(tool.about.ends_with('.') && !tool.title.ends_with('.'), "{}", tool.name);
            let schema = &tool.described()["inputSchema"];
            assert_eq!(schema["properties"].as_object().unwrap().len(), tool.parameters().count(), "{}", tool.name);
        }
    }

    #[test]
    fn arguments_become_words() {
        let look = "--error-format=json --color=never";
        for (tool, arguments, words) in [
            ("build", json!(null), format!("build --offline {look} -- .")),
            (
                "build",
                json!({"directory": "src", "compat": "5.7.1"}),
                format!("build --offline {look} --compat=5.7.1 -- src"),
            ),
            ("lint", json!({"all": true, "schema": false}), format!("lint --offline {look} --all -- .")),
            ("explain", json!({"file": "src/lib.rs", "line": 3}), format!("explain --offline {look} -- src/lib.rs:3")),
            (
                "diff",
                json!({"since": "-x", "directories": ["src"]}),
                format!("diff --offline {look} --since=-x -- src"),
            ),
            ("edit", json!({"words": ["set", "x"]}), format!("edit --dry-run {look} --directory=. set x")),
            ("build", json!({"directory": "-x"}), format!("build --offline {look} -- ./-x")),
        ] {
            assert_eq!(command(tool, arguments), Ok(words));
        }
    }

    #[test]
    fn arguments_that_do_not_fit_are_refused() {
        for (tool, arguments, why) in [
            ("build", json!([]), "'arguments' is not an object"),
            ("build", json!({"dir": "."}), "unknown parameter 'dir': 'build' takes directory, compat, offset"),
            ("build", json!({"directory": 1}), "'directory' is not a string without NUL"),
            ("build", json!({"directory": "a\0"}), "'directory' is not a string without NUL"),
            ("build", json!({"offset": -1}), "'offset' is not a whole number from 0 on"),
            ("build", json!({"directory": "/etc"}), "'/etc' is outside of the directories of this server"),
            ("build", json!({"directory": ""}), "'' is outside of the directories of this server"),
            ("diff", json!({"old": ".."}), "'..' is outside of the directories of this server"),
            ("diff", json!({"old": "."}), "either 'old' and 'new' or 'since' is needed"),
            ("edit", json!({}), "'words' is missing: "),
            ("edit", json!({"words": ["--all"]}), "the first of 'words' is not add, set, remove or fix"),
            ("explain", json!({"field": "a"}), "'resource' is missing beside 'field'"),
            ("affected", json!({}), "'files' or 'since' is missing"),
        ] {
            let refused = command(tool, arguments).unwrap_err();
            assert!(refused.starts_with(why), "{refused}");
        }
    }
}
