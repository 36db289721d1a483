//! Exec plugins: any executable that takes the name of a file with its configuration.
//!
//! A generator reads nothing and prints resources; a transformer reads all resources and prints
//! those that replace them. `KUSTOMIZE_PLUGIN_MODE` says which of the two the plugin is, and
//! `RUSTOMIZE_PLUGIN_ROLE` under which field the plugin is listed. *Cost*: the process, and
//! printing and reading the resources once each.

use super::PluginOptions;
use super::failure::{Called, explain, without_interpreter};
use super::program::PluginProgram;
use super::worker::{Unanswered, Worker, WorkerRequest, Workers};
use crate::diag::{Code, Error, Result};
use crate::load::Root;
use crate::resource::{ResMap, Resource};
use crate::stage::{Build, Generator, Given, Mode, Plugin, PluginEntry, Transformer, wire};
use rustomize_plugin_abi::Mode as Task;
use rustomize_process::Variable;
use rustomize_yaml::{Arena, Pos};
use std::ffi::OsString;
use std::io::Write;
use std::sync::Arc;

/// Longest `NAME=value` that a process can be given; upstream leaves longer ones out.
const MAX_VARIABLE: usize = if cfg!(windows) { 32_766 } else { 131_071 };

/// The variable with the role of a plugin: `generator`, `transformer`, `validator`.
const ROLE: &str = "RUSTOMIZE_PLUGIN_ROLE";

/// A plugin with its configuration, ready to run.
pub struct ExecPlugin {
    options: Arc<PluginOptions>,
    program: PluginProgram,
    args: Vec<OsString>,
    root: Root,
    /// The configuration as the plugin gets it.
    config: String,
    /// The base name of the file that holds it.
    file_name: String,
    /// The name of the plugin in errors.
    name: String,
    pos: Pos,
    mode: Mode,
    /// The process that is called, where the plugin is started once.
    worker: Option<Arc<Worker>>,
}

impl ExecPlugin {
    /// Reads the arguments for an executable off a configuration object. `root` is the root that
    /// lists the entry.
    ///
    /// # Errors
    /// The arguments are not valid.
    pub fn load<'a>(
        build: &Build<'a>,
        options: &Arc<PluginOptions>,
        PluginEntry { root, config, mode }: PluginEntry<'_, 'a>,
        program: PluginProgram,
    ) -> Result<Self> {
        let arena = build.arena;
        let pos = config.pos();
        let args = arguments(build, root, config).map_err(|e| e.at(pos))?;
        build.cx.files.note(&program.shown);
        let config_text = program.format.print_config(arena, config)?;
        Ok(ExecPlugin {
            options: Arc::clone(options),
            program,
            args,
            root: root.clone(),
            config: config_text,
            file_name: file_name(arena, config),
            name: format!("plugin {}", config.id()),
            pos,
            mode,
            worker: None,
        })
    }

    /// The same, as a plugin that is started once and called over frames.
    ///
    /// # Errors
    /// The plugin cannot be started, or its first frame is not valid.
    pub fn with_worker(self, workers: &Workers) -> Result<Self> {
        let worker = workers.of(&self.options, &self.program, &self.root).map_err(|e| e.at(self.pos))?;
        Ok(ExecPlugin { worker: Some(worker), ..self })
    }

    /// Calls the worker and gives what it printed.
    fn call_worker(&self, worker: &Worker, stdin: &[u8]) -> Result<Vec<u8>> {
        let fault = |message: String| Error::new(Code::PluginFailed, format!("{}: {message}", self.name)).at(self.pos);
        let root = self.root.real.to_str().ok_or_else(|| fault("its root's path is not valid UTF-8".to_owned()))?;
        let request = WorkerRequest {
            task: match self.mode {
                Mode::Generate => Task::Generate,
                Mode::Transform => Task::Transform,
                Mode::Validate => Task::Validate,
            },
            config: &self.config,
            root,
            resources: stdin,
            args: self.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
            component: self.program.component.as_deref().unwrap_or_default(),
            parameters: &self.program.parameters,
        };
        let path = worker.path().display();
        worker.ask(&request).map_err(|unanswered| match unanswered {
            Unanswered::Failed(failed) => {
                explain(&self.options, &failed, Called { program: worker.path(), ..self.called() })
            }
            Unanswered::Refused(why) => fault(format!("'{path}' failed: {}", why.trim_end())),
            Unanswered::Broken(how) => fault(format!("'{path}' broke the rules of workers: {how}"))
                .hint("a worker prints nothing but frames on stdout, one for each request"),
            Unanswered::Ended => fault(format!("'{path}' has ended after an earlier error")),
        })
    }

    /// Calls the plugin and gives what it printed. Its process starts while `input` makes what the
    /// plugin reads.
    fn call(&self, build: &mut Build<'_>, input: impl FnOnce() -> Result<Vec<u8>>) -> Result<Vec<u8>> {
        if let Some(worker) = &self.worker {
            return self.call_worker(worker, &input()?);
        }
        let fault = |message: String| Error::new(Code::PluginFailed, format!("{}: {message}", self.name)).at(self.pos);
        let no_file = |e: std::io::Error| fault(format!("cannot write its configuration to a temporary file: {e}"));
        // Deleted on drop.
        let directory = self.options.children.directory("rustomize-plugin-").map_err(no_file)?;
        let config_file = directory.path().join(&self.file_name);
        let mut file = directory.create(&self.file_name).map_err(no_file)?;
        file.write_all(self.config.as_bytes()).map_err(no_file)?;
        drop(file);
        let launch = self.program.launch.clone().args([config_file]).args(self.args.iter().cloned());
        let launch = launch.in_directory(&*self.root.real).reading([directory.path(), &*self.root.real]);
        let launch = self.options.confined(launch.variables(self.variables(build)), &self.program.isolation);
        let not_started = |e: std::io::Error| fault(format!("cannot be started: {e}"));
        let launch = self.options.limited(launch.map_err(not_started)?);
        let children = &self.options.children;
        let printed = match self.mode {
            Mode::Generate => children.run(launch),
            Mode::Transform | Mode::Validate => children.run_with(&launch, input)?,
        };
        printed.map_err(|failed| explain(&self.options, &failed, self.called()))
    }

    fn called(&self) -> Called<'_> {
        let (program, isolation) = (&*self.program.shown, Some(&self.program.isolation));
        Called { program, name: &self.name, pos: self.pos, isolation }
    }

    /// Reads what the plugin printed.
    fn parse<'a>(&self, build: &mut Build<'a>, printed: Vec<u8>) -> Result<Vec<Resource<'a>>> {
        let parsed = self.program.format.parse(build, self.output_name(), printed);
        parsed.map_err(|e| match without_interpreter(&self.program.shown) {
            Some(hint) => e.advised(|_| Some(hint.clone())),
            None => e,
        })
    }

    fn variables(&self, build: &mut Build<'_>) -> Vec<Variable> {
        let mut variables: Vec<Variable> = vec![
            ("KUSTOMIZE_PLUGIN_MODE".into(), self.mode.as_str().into()),
            // kustomize's variable does not tell a validator from a transformer.
            (ROLE.into(), self.mode.role().into()),
            ("KUSTOMIZE_PLUGIN_CONFIG_STRING".into(), self.config.as_str().into()),
            ("KUSTOMIZE_PLUGIN_CONFIG_ROOT".into(), self.root.real.as_os_str().into()),
        ];
        variables.extend(self.program.variables());
        variables.retain(|(name, value)| {
            let fits = name.len() + 1 + value.len() <= MAX_VARIABLE;
            if !fits {
                let limit = format!("exceeds hard limit of {MAX_VARIABLE} characters and is left out");
                build.warn(Code::PluginMessage, format!("{}: {name} {limit}", self.name));
            }
            fits
        });
        variables
    }

    fn output_name(&self) -> String {
        format!("the output of {}", self.name)
    }
}

impl<'a> Generator<'a> for ExecPlugin {
    fn generate(&self, build: &mut Build<'a>) -> Result<Vec<Resource<'a>>> {
        let printed = self.call(build, || Ok(Vec::new()))?;
        let resources = self.parse(build, printed)?;
        wire::generated(build, resources)
    }
}

impl<'a> Transformer<'a> for ExecPlugin {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let arena = build.arena;
        // The output of the plugin replaces all resources: the old ones are freed first.
        let (places, resources) = map.take_all(arena)?;
        let print = || self.program.format.print(arena, resources.into_iter(), wire::Ids::With).map(String::into_bytes);
        let printed = self.call(build, print)?;
        let resources = self.parse(build, printed)?;
        *map = wire::merge_output(&places, resources, &self.program.shown.display().to_string())?;
        Ok(())
    }
}

impl<'a> Plugin<'a> for ExecPlugin {
    fn check(&self, map: &ResMap<'a>, given: &mut Given, build: &mut Build<'a>) -> Result<Option<Vec<Resource<'a>>>> {
        let format = self.program.format;
        let input = given.in_notation((format, wire::Ids::With), map, build.arena)?;
        let printed = self.call(build, || Ok(input.as_bytes().to_vec()))?;
        if printed == input.as_bytes() {
            return Ok(None);
        }
        let printed = format.without_echo(input, printed);
        self.parse(build, printed).map(Some)
    }
}

/// The name of the file that holds a configuration: that of the user's file, or one made of kind
/// and name for an object that comes from no file.
fn file_name(arena: Arena<'_>, config: &Resource<'_>) -> String {
    let from_file = arena.source(config.pos()).filter(|s| s.is_file).and_then(|s| s.name.rsplit('/').next());
    match from_file {
        Some(name) => name.to_owned(),
        None => format!("{}-{}.yaml", config.id().gvk.kind.to_lowercase(), config.id().name).replace(['/', '\0'], "-"),
    }
}

/// The words of `argsOneLiner`, then the lines of the file that `argsFromFile` names.
fn arguments<'a>(build: &Build<'a>, root: &Root, config: &Resource<'a>) -> Result<Vec<OsString>> {
    let mut args: Vec<OsString> = Vec::new();
    if let Some(line) = config.node().get_text("argsOneLiner") {
        let compat = build.arena.compat();
        let (words, is_open) = if compat.ends_one_liners_at_hashes() { words(line) } else { words_with_comments(line) };
        if is_open && compat.refuses_open_quotes() {
            let fault = Error::new(Code::BadSource, "failed to parse argsOneLiner: unclosed quote in string");
            let hint = "close the quote, or write '\\' in front of a quote that is part of an argument";
            return Err(fault.hint(hint));
        }
        args.extend(words.into_iter().map(OsString::from));
    }
    if let Some(path) = config.node().get_text("argsFromFile") {
        let bytes = build.cx.files.bytes(root, path).map_err(|e| Error::from(e).context("reading argsFromFile"))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::new(Code::Encoding, format!("argsFromFile '{path}' is not valid UTF-8")))?;
        args.extend(
            text.split('\n')
                .map(|line| line.trim_start_matches(' '))
                .filter(|line| !line.is_empty())
                .map(OsString::from),
        );
    }
    Ok(args)
}

/// Splits a line into words: quotes, backslashes outside single quotes, and a `#` outside quotes
/// that ends everything. Empty words vanish. `true` for an open quote.
fn words(line: &str) -> (Vec<String>, bool) {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote: Option<char> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => word.extend(chars.next()),
            (c, Some(q)) if c == q => quote = None,
            ('"' | '\'', None) => quote = Some(c),
            ('#', None) => break,
            (c, None) if c.is_whitespace() => words.push(std::mem::take(&mut word)),
            (c, _) => word.push(c),
        }
    }
    words.push(word);
    words.retain(|w| !w.is_empty());
    (words, quote.is_some())
}

/// Splits a line into words as kustomize did before: a `#` at the beginning of a word begins a
/// comment, which ends with its line; words in quotes may be empty; a backslash or a quote that is
/// open at the end loses the word that it is in. `true` for such an end.
fn words_with_comments(line: &str) -> (Vec<String>, bool) {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\r' | '\n' => words.extend(word.take()),
            '#' if word.is_none() => drop(chars.by_ref().find(|c| *c == '\n')),
            '\\' => match chars.next() {
                Some(c) => word.get_or_insert_default().push(c),
                None => return (words, true),
            },
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some(end) if end == c => break,
                        Some('\\') if c == '"' => match chars.next() {
                            Some(c) => word.push(c),
                            None => return (words, true),
                        },
                        Some(c) => word.push(c),
                        None => return (words, true),
                    }
                }
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    (words, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, want: Option<&[&str]>) {
        let (got, is_open) = words(line);
        let got: Vec<&str> = got.iter().map(String::as_str).collect();
        assert_eq!((!is_open).then_some(&got[..]), want, "{line}");
    }

    #[test]
    fn one_liners_with_comments() {
        let check = |line: &str, want: &[&str], is_open| {
            let (words, was_open) = words_with_comments(line);
            assert_eq!((words, was_open), (want.iter().map(|word| (*word).to_owned()).collect(), is_open), "{line}");
        };
        check("a b\n c", &["a", "b", "c"], false);
        check("x#y z # c 'd\ne", &["x#y", "z", "e"], false);
        check("'' a\"\"", &["", "a"], false);
        check(r#""a \" \n" c\ d"#, &["a \" n", "c d"], false);
        check(r"'a\' b\", &["a\\"], true);
        check("a 'open", &["a"], true);
    }

    #[test]
    fn one_liners() {
        check("a b\n c", Some(&["a", "b", "c"]));
        check("a'b c'd", Some(&["ab cd"]));
        check("x#y z", Some(&["x"]));
        check("'' \"\" a", Some(&["a"]));
        check(r#""a \" b" c\ d"#, Some(&["a \" b", "c d"]));
        check(r"a\", Some(&["a"]));
        check("'a\\'", Some(&["a\\"]));
        check("'open", None);
    }
}
