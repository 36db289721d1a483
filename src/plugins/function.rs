//! KRM functions: executables and containers that read a ResourceList and print one.
//!
//! The configuration object says in an annotation what runs. Functions see what upstream's see:
//! sorted keys, no comments, and the annotations with which upstream finds resources again. *Cost*:
//! the process, and printing and reading the resources once each.

use super::container::Container;
use super::failure::{Called, explain};
use super::options::{FailOn, PluginOptions};
use super::program::PluginProgram;
use crate::config::{Decode, Decoder};
use crate::diag::{Code, Error, Result};
use crate::load::{Root, clean};
use crate::resource::{ResMap, Resource};
use crate::stage::{Build, Generator, Given, Plugin, PluginEntry, Transformer, wire};
use rustomize_process::{Failure, Launch, Removal, Variable};
use rustomize_yaml::{Arena, Heap, Node, Pos, documents, first_document, reprint};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The annotations that make a configuration object a function; the first that exists counts. The
/// last one names an image.
const FUNCTION: [&str; 2] = ["config.kubernetes.io/function", "config.k8s.io/function"];
const CONTAINER: &str = "config.kubernetes.io/container";

const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";
const PATH: [&str; 2] = ["config.kubernetes.io/path", "internal.config.kubernetes.io/path"];
const INDEX: [&str; 2] = ["config.kubernetes.io/index", "internal.config.kubernetes.io/index"];
const MIGRATION_ID: &str = "internal.config.kubernetes.io/annotations-migration-resource-id";
const ID: [&str; 2] = ["internal.config.kubernetes.io/id", "config.k8s.io/id"];

/// The program or image of the annotation.
#[derive(Debug, Default, Decode)]
struct Spec<'a> {
    /// kustomize accepts the field and fails all the same.
    defer_failure: bool,
    container: Container<'a>,
    exec: Exec<'a>,
}

impl Spec<'_> {
    /// Returns true if neither an image nor a program is named.
    fn is_empty(&self) -> bool {
        self.container.image.is_empty() && self.exec.path.is_empty()
    }
}

#[derive(Debug, Default, Decode)]
struct Exec<'a> {
    path: &'a str,
    #[field(only_if(takes_arguments_of_functions))]
    args: Vec<&'a str>,
    #[field(only_if(takes_arguments_of_functions))]
    envs: Vec<&'a str>,
}

/// A function with its configuration, ready to run.
pub struct Function {
    options: Arc<PluginOptions>,
    program: PluginProgram,
    /// The variables that the object declares.
    variables: Vec<Variable>,
    root: Root,
    /// The configuration as the function gets it.
    config: String,
    /// The function's name in errors, and in upstream's name for a resource that was printed twice.
    name: String,
    api_name: String,
    pos: Pos,
    /// The image, if the function is a container: the engine is not known before it is needed.
    image: Option<String>,
    /// True if the annotation names no function: nothing runs.
    is_empty: bool,
}

/// The answer of [`Function::alone`].
pub enum Alone {
    Runs(Box<Function>),
    /// The function is this executable, and executables are not enabled.
    IsDisabled(String),
    /// The object is not for a function.
    IsNone,
}

/// Returns whether a configuration object is for a function.
pub fn is_function(config: &Node<'_>) -> bool {
    let annotations = config.get("metadata").and_then(|metadata| metadata.get("annotations"));
    let has = |key: &str| annotations.is_some_and(|annotations| annotations.get_text(key).is_some());
    FUNCTION.into_iter().chain([CONTAINER]).any(has) || config_fn(config).is_some()
}

/// Returns true if the function of a configuration object is an executable.
pub fn is_program(config: &Node<'_>) -> bool {
    let annotations = config.get("metadata").and_then(|metadata| metadata.get("annotations"));
    let spec = |key: &str| annotations.and_then(|annotations| annotations.get_text(key));
    let is_exec = |text: &str| text.lines().any(|line| line.trim_start().starts_with("exec:"));
    FUNCTION.into_iter().filter_map(spec).any(is_exec)
        || config_fn(config).is_some_and(|spec| spec.get("exec").is_some())
}

fn config_fn<'n, 'a>(config: &'n Node<'a>) -> Option<&'n Node<'a>> {
    config.get("metadata")?.get("configFn").filter(|node| !node.is_null())
}

/// Reads what a configuration object says of its function; errors call the object `name`.
fn spec<'a>(arena: Arena<'a>, config: &Node<'a>, name: &str) -> Result<Spec<'a>> {
    let annotation = |key: &str| Some(config.get("metadata")?.get("annotations")?.get(key)?.as_scalar()?.text());
    let mut spec = Spec::default();
    let failed = |key: &str| {
        let key = key.to_owned();
        move |e: Error| e.context(format!("loader: failed to get FunctionSpec: {key} unmarshal error"))
    };
    if let Some((key, text)) = FUNCTION.iter().find_map(|key| Some((key, annotation(key)?))) {
        let source = arena.add_source(format!("the annotation {key} of {name}"), text.to_owned());
        let node = first_document(arena, source).map_err(|m| failed(key)(Error::from(m)))?;
        if let Some(node) = node {
            spec.decode(&node, &Decoder::strict(arena)).map_err(failed(key))?;
        }
    } else if let Some(node) = config_fn(config) {
        spec.decode(node, &Decoder::strict(arena)).map_err(failed("metadata.configFn"))?;
    } else if let Some(image) = annotation(CONTAINER) {
        spec.container.image = image;
    }
    Ok(spec)
}

/// The fields of a kustomization that may hold configuration objects as texts.
const INLINE: [&str; 3] = ["generators", "transformers", "validators"];

/// The images of the container functions in a file of configuration objects, or in a kustomization
/// that has such objects inline. What is not YAML names none: a file may be a template.
pub fn images_in(text: String) -> Vec<String> {
    if !FUNCTION.iter().chain([&CONTAINER, &"configFn"]).any(|word| text.contains(word)) {
        return Vec::new();
    }
    let heap = Heap::new();
    let arena = heap.arena();
    let mut images = Vec::new();
    for node in documents(arena, arena.add_source("a file", text)).unwrap_or_default() {
        let inline = INLINE.iter().filter_map(|field| node.get(field)?.as_sequence()).flatten();
        for text in inline.filter_map(|entry| Some(entry.as_scalar()?.text())).filter(|text| text.contains('\n')) {
            let source = arena.add_source("an entry", text.to_owned());
            images.extend(documents(arena, source).unwrap_or_default().iter().filter_map(|node| image(arena, node)));
        }
        images.extend(image(arena, &node));
    }
    images
}

/// The image that a configuration object names.
fn image<'a>(arena: Arena<'a>, node: &Node<'a>) -> Option<String> {
    let spec = spec(arena, node, "an object").ok()?;
    Some(spec.container.image.to_owned()).filter(|image| !image.is_empty())
}

impl Function {
    /// A function that is a certain program.
    ///
    /// # Errors
    /// The configuration cannot be printed.
    pub fn of<'a>(
        build: &Build<'a>,
        options: &Arc<PluginOptions>,
        entry: PluginEntry<'_, 'a>,
        program: PluginProgram,
    ) -> Result<Self> {
        let (arena, config) = (build.arena, entry.config);
        let id = config.id();
        let api_version = config.node().get_text("apiVersion").unwrap_or_default();
        Ok(Function {
            options: Arc::clone(options),
            program,
            variables: Vec::new(),
            root: entry.root.clone(),
            config: with_annotations(&wire::print_config(arena, config)?, &[(LOCAL_CONFIG, "true".to_owned())]),
            name: format!("function {id}"),
            api_name: format!("api: {api_version}, kind: {}, name: {}", id.gvk.kind, id.name),
            pos: config.pos(),
            image: None,
            is_empty: false,
        })
    }

    /// Reads what a configuration object says of its function. `root` is the root that lists the
    /// entry.
    ///
    /// # Errors
    /// The annotation is wrong, or asks for what is not allowed.
    pub fn load<'a>(build: &mut Build<'a>, options: &Arc<PluginOptions>, entry: PluginEntry<'_, 'a>) -> Result<Self> {
        let (arena, config) = (build.arena, entry.config);
        let spec = spec(arena, config.node(), &config.id().to_string()).map_err(|e| e.at(config.pos()))?;
        let program = PluginProgram::placed(PathBuf::new(), options.isolation.clone());
        let mut function = Function::of(build, options, entry, program)?;
        if spec.is_empty() {
            build.warn(
                Code::PluginMessage,
                format!("{}: its annotation names neither an image nor a path: nothing runs", function.name),
            );
            function.is_empty = true;
        } else {
            function.prepare(arena, spec)?;
        }
        Ok(function)
    }

    /// Reads what a configuration object says of its function, outside of a build. Executables are
    /// looked for in `root`, which is the directory that functions run in.
    ///
    /// # Errors
    /// The object is not YAML, or its annotation is wrong or asks for what is not allowed.
    pub fn alone<'a>(
        arena: Arena<'a>,
        options: &Arc<PluginOptions>,
        root: &Root,
        config: &str,
        name: String,
    ) -> Result<Alone> {
        let source = arena.add_source(name.as_str(), config.to_owned());
        let Some(node) = first_document(arena, source).map_err(Error::from)?.filter(is_function) else {
            return Ok(Alone::IsNone);
        };
        let spec = spec(arena, &node, &name).map_err(|e| e.at(node.pos()))?;
        if spec.is_empty() {
            return Ok(Alone::IsNone);
        }
        if spec.container.image.is_empty() && !options.functions.exec {
            return Ok(Alone::IsDisabled(spec.exec.path.to_owned()));
        }
        let mut function = Function {
            options: Arc::clone(options),
            program: PluginProgram::placed(PathBuf::new(), options.isolation.clone()),
            variables: Vec::new(),
            root: root.clone(),
            config: String::new(),
            api_name: name.clone(),
            name,
            pos: node.pos(),
            image: None,
            is_empty: false,
        };
        function.prepare(arena, spec)?;
        Ok(Alone::Runs(Box::new(function)))
    }

    /// Takes the program or image that an annotation names, which is not empty.
    fn prepare<'a>(&mut self, arena: Arena<'a>, mut spec: Spec<'a>) -> Result<()> {
        let (pos, options) = (self.pos, Arc::clone(&self.options));
        let options = &options.functions;
        let fault = |message: String| Error::new(Code::PluginRefused, message).at(pos);
        if !spec.container.image.is_empty() {
            let image = options.images.of(&self.root, spec.container.image).map_err(|e| e.at(pos))?;
            spec.container.image = arena.text(&image);
            self.program.launch.args = spec.container.arguments(options, &self.root).map_err(fault)?;
            self.image = Some(spec.container.image.to_owned());
        } else if !options.exec {
            let message = format!("functions that are executables are disabled; unable to run '{}'", spec.exec.path);
            let hint = "a function can do whatever you can do; if you trust this one, pass --enable-exec";
            return Err(fault(message).with_code(Code::NotEnabled).hint(hint));
        } else {
            if &*self.root.real == std::path::Path::new("/") {
                return Err(fault("a function may not run in the root directory '/'".to_owned()));
            }
            self.program.shown = match spec.exec.path.contains('/') {
                true => clean(&self.root.real.join(spec.exec.path).to_string_lossy()).into(),
                false => PathBuf::from(spec.exec.path),
            };
            self.program.launch = Launch::new(&self.program.shown).args(&spec.exec.args);
            let declared = spec.exec.envs.iter().copied().chain(options.variables.iter().map(String::as_str));
            for (name, value) in
                declared.filter(|item| item.matches('=').count() == 1).filter_map(|i| i.split_once('='))
            {
                self.variables.retain(|(known, _)| known != name);
                self.variables.push((name.to_owned().into(), value.into()));
            }
        }
        Ok(())
    }

    /// Returns true if the function is an image.
    pub fn is_container(&self) -> bool {
        self.image.is_some()
    }

    /// The image or the program of the function, for people.
    pub fn program_name(&self) -> String {
        self.image.clone().unwrap_or_else(|| self.program.shown.display().to_string())
    }

    /// Runs the function on a ResourceList, and gives what it printed.
    ///
    /// # Errors
    /// The function fails.
    pub fn output(&self, input: Vec<u8>) -> Result<Vec<u8>> {
        match &self.image {
            Some(image) => self.run_container(image, input),
            None => self.run_executable(input),
        }
    }

    /// Runs the function on a ResourceList, and gives what it printed.
    fn call<'a>(&self, build: &mut Build<'a>, items: &[String]) -> Result<Vec<Resource<'a>>> {
        let arena = build.arena;
        let input = self.resource_list(items).into_bytes();
        let printed = self.output(input)?;
        let mut resources = self.read(build, printed)?;
        for resource in &mut resources {
            note_path(arena, resource);
            // Upstream prints what it has read from a function, and reads that.
            reprint::reprinted(arena, resource.node_mut())?;
        }
        Ok(resources)
    }

    /// The function, run by a program outside of a sandbox.
    fn called<'c>(&'c self, program: &'c Path) -> Called<'c> {
        Called { program, name: &self.name, pos: self.pos, isolation: None }
    }

    /// Runs the executable of the function, and gives what it printed.
    fn run_executable(&self, input: Vec<u8>) -> Result<Vec<u8>> {
        let options = &self.options;
        let fault = |e: std::io::Error| Error::new(Code::PluginFailed, format!("{}: {e}", self.name)).at(self.pos);
        let launch = self.program.launch.clone().in_directory(&*self.root.real).reading([&*self.root.real]);
        let launch = launch.variables(self.variables.iter().cloned());
        let launch = options.confined(launch, &self.program.isolation).map_err(fault)?;
        let launch = options.limited(launch.variables(self.program.variables()).with_input(input));
        let printed = options.children.run(launch);
        printed.map_err(|failed| {
            let isolation = Some(&self.program.isolation);
            explain(options, &failed, Called { isolation, ..self.called(&self.program.shown) })
        })
    }

    /// Runs the container of the function, and gives what it printed. A container whose id the
    /// engine notes is removed when it fails or does not end.
    fn run_container(&self, image: &str, input: Vec<u8>) -> Result<Vec<u8>> {
        let options = &self.options;
        let fault = |e: std::io::Error| Error::new(Code::PluginFailed, format!("{}: {e}", self.name)).at(self.pos);
        let found = options.functions.engine.program(&options.children);
        let engine = found.map_err(|e| e.context(format!("{} is the image '{image}'", self.name)).at(self.pos))?;
        // A container has walls of its own, and its engine needs to be outside of ours.
        let launch = Launch { program: engine.clone(), ..self.program.launch.clone() };
        let launch = launch.in_directory(&*self.root.real).variables(self.program.variables());
        let mut launch = options.limited(launch.with_input(input));
        let printed = if options.functions.notes_containers {
            // The engine ends with its time limit, and its daemon continues: the container's id
            // must be known.
            let directory = options.children.directory("rustomize-container-").map_err(fault)?;
            let removal = Removal::new(engine.clone(), vec!["rm".into(), "-f".into()], directory);
            launch.args.splice(1..1, ["--cidfile".into(), removal.file().into_os_string()]);
            options.children.run_or_remove(launch, removal)
        } else {
            options.children.run(launch)
        };
        printed.map_err(|failed| {
            let error = explain(options, &failed, self.called(&engine));
            match failed.failure {
                Failure::TimedOut(_) if !options.functions.notes_containers => {
                    error.hint("the container may still run; it is removed where --plugin-timeout is given")
                }
                _ => error,
            }
        })
    }

    fn resource_list(&self, items: &[String]) -> String {
        let size: usize = items.iter().map(|item| item.len() + item.len() / 4).sum();
        let mut text = String::with_capacity(size + self.config.len() + 200);
        text.push_str("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:");
        text.push_str(if items.is_empty() { " []\n" } else { "\n" });
        for item in items {
            indent(&mut text, item, "- ");
        }
        text.push_str("functionConfig:\n");
        indent(&mut text, &self.config, "  ");
        text
    }

    /// Reads a ResourceList, or bare documents, and shows the results.
    fn read<'a>(&self, build: &mut Build<'a>, printed: Vec<u8>) -> Result<Vec<Resource<'a>>> {
        let arena = build.arena;
        let nodes = wire::read(arena, format!("the output of {}", self.name), printed)?;
        let results = match nodes.as_slice() {
            [only] => only.get("results").and_then(Node::as_sequence).into_iter().flatten().cloned().collect(),
            _ => Vec::new(),
        };
        self.show(build, &results)?;
        let is_list = |node: &Node<'a>| matches!(node.get_text("kind"), Some("ResourceList" | "List"));
        let nodes = match nodes.as_slice() {
            // A list without items: nothing is to be there.
            [only] if is_list(only) && only.get("items").is_none_or(Node::is_null) => Vec::new(),
            _ => nodes,
        };
        wire::resources(build, nodes)
    }

    /// Shows what a function found, each result in a line.
    fn show(&self, build: &mut Build<'_>, results: &[Node<'_>]) -> Result<()> {
        let mut worst = None;
        for result in results {
            let severity = result.get_text("severity").unwrap_or("error");
            let message = result.get_text("message").unwrap_or_default();
            let mut line = format!("{}: [{severity}] {message}", self.name);
            if let Some(resource) = result.get("resourceRef") {
                let part = |field: &str| resource.get_text(field).unwrap_or_default();
                line.push_str(&format!(" ({} {})", part("kind"), part("name")));
            }
            if let Some(field) = result.get("field").and_then(|f| f.get_text("path")) {
                line.push_str(&format!(" at {field}"));
            }
            let rank = match severity {
                "error" => FailOn::Error,
                "warning" => FailOn::Warning,
                _ => FailOn::Nothing,
            };
            let fails = match self.options.functions.fail_on {
                FailOn::Nothing => false,
                FailOn::Error => rank == FailOn::Error,
                FailOn::Warning => rank != FailOn::Nothing,
            };
            if fails && worst.is_none() {
                worst = Some(line);
            } else {
                build.warn(Code::PluginMessage, line);
            }
        }
        match worst {
            Some(line) => {
                let error = Error::new(Code::PluginFailed, line).at(self.pos);
                Err(error.hint("--fail-on-results decides which results fail a build"))
            }
            None => Ok(()),
        }
    }
}

/// Resources as items, with the annotations that tell a function where each comes from.
fn items<'a>(arena: Arena<'a>, resources: Vec<Resource<'a>>) -> Result<Vec<String>> {
    let mut paths = Vec::with_capacity(resources.len());
    for resource in &resources {
        for [legacy, internal] in [PATH, INDEX, [ID[1], ID[0]]] {
            let (old, new) = (resource.annotation(legacy), resource.annotation(internal));
            if old.zip(new).is_some_and(|(old, new)| old != new) {
                let message = "resource input to function has mismatched legacy and internal path annotations";
                return Err(Error::new(Code::BadOutput, format!("{message}: {}", resource.id())).at(resource.pos()));
            }
        }
        // Upstream copies the path to the one of its two annotations that lacks it.
        let [legacy, internal] = PATH.map(|key| resource.annotation(key).filter(|path| !path.is_empty()));
        paths.push(match (legacy, internal) {
            (Some(path), None) => Some((PATH[1], path.to_owned())),
            (None, Some(path)) => Some((PATH[0], path.to_owned())),
            _ => None,
        });
    }
    let mut items = Vec::with_capacity(resources.len());
    wire::print_each(arena, resources.into_iter(), wire::Ids::With, &mut |text| {
        let i = items.len();
        items.push(with_item_annotations(text, i, paths[i].take()));
    })?;
    Ok(items)
}

fn with_item_annotations(text: &str, i: usize, path: Option<(&str, String)>) -> String {
    let mut added: Vec<(&str, String)> = path.into_iter().collect();
    added.extend(INDEX.map(|key| (key, i.to_string())));
    added.push((MIGRATION_ID, i.to_string()));
    added.extend(ID.map(|key| (key, (i + 1).to_string())));
    with_annotations(text, &added)
}

impl<'a> Generator<'a> for Function {
    fn generate(&self, build: &mut Build<'a>) -> Result<Vec<Resource<'a>>> {
        if self.is_empty {
            return Ok(Vec::new());
        }
        // Upstream hands a generator its own configuration as the only item, and plugins rely on
        // it.
        let item = with_item_annotations(&self.config, 0, None);
        let resources = self.call(build, &[item])?;
        wire::generated(build, resources)
    }
}

impl<'a> Transformer<'a> for Function {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let arena = build.arena;
        if self.is_empty {
            return Ok(());
        }
        let (places, resources) = map.take_all(arena)?;
        let printed = self.call(build, &items(arena, resources)?)?;
        *map = wire::merge_output(&places, printed, &self.api_name)?;
        Ok(())
    }
}

impl<'a> Plugin<'a> for Function {
    fn check(&self, map: &ResMap<'a>, _: &mut Given, build: &mut Build<'a>) -> Result<Option<Vec<Resource<'a>>>> {
        if self.is_empty {
            return Ok(None);
        }
        self.call(build, &items(build.arena, map.iter().cloned().collect())?).map(Some)
    }
}

/// Gives a resource without a path the path that upstream gives it, and removes ids and indexes.
fn note_path<'a>(arena: Arena<'a>, resource: &mut Resource<'a>) {
    for key in ID.into_iter().chain([MIGRATION_ID]).chain(INDEX) {
        resource.take_annotation(key);
    }
    let path = PATH.iter().find_map(|key| resource.annotation(key)).unwrap_or_else(|| {
        let id = resource.id();
        let folder = if id.namespace.is_empty() { String::new() } else { format!("{}/", id.namespace) };
        arena.text(&format!("{folder}{}_{}.yaml", id.gvk.kind.to_lowercase(), id.name))
    });
    resource.add_metadata_entries("annotations", PATH.map(|key| (key, path.into())));
}

/// Appends a text with every line deeper; `first` stands before the first line.
fn indent(out: &mut String, text: &str, first: &str) {
    for (i, line) in text.lines().enumerate() {
        if !line.is_empty() {
            out.push_str(if i == 0 { first } else { "  " });
            out.push_str(line);
        }
        out.push('\n');
    }
}

/// A printed object with more annotations, after its own and in their order, as upstream adds them.
/// An existing annotation keeps its place and gets the new value. O(size of the text).
fn with_annotations(text: &str, added: &[(&str, String)]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let metadata = lines.iter().position(|line| *line == "metadata:");
    let start = metadata.and_then(|m| {
        let inside = lines[m + 1..].iter().take_while(|line| line.starts_with("  "));
        inside.clone().position(|line| *line == "  annotations:").map(|i| m + 1 + i)
    });
    let mut out: Vec<String> = Vec::with_capacity(lines.len() + added.len() + 1);
    let Some(start) = start else {
        let Some(metadata) = metadata else { return text.to_owned() };
        out.extend(lines[..=metadata].iter().map(|line| (*line).to_owned()));
        out.push("  annotations:".to_owned());
        out.extend(added.iter().map(|(key, value)| entry(key, value)));
        out.extend(lines[metadata + 1..].iter().map(|line| (*line).to_owned()));
        return out.join("\n") + "\n";
    };
    let len = lines[start + 1..].iter().take_while(|line| line.is_empty() || line.starts_with("    ")).count();
    let mut annotations: Vec<String> =
        lines[start + 1..start + 1 + len].iter().map(|line| (*line).to_owned()).collect();
    for (key, value) in added {
        let head = format!("    {key}: ");
        match annotations.iter_mut().find(|line| line.starts_with(&head)) {
            Some(line) if line[head.len()..].starts_with('\'') => *line = entry(key, value),
            Some(line) => *line = format!("{head}\"{value}\""),
            None => annotations.push(entry(key, value)),
        }
    }
    out.extend(lines[..=start].iter().map(|line| (*line).to_owned()));
    out.append(&mut annotations);
    out.extend(lines[start + 1 + len..].iter().map(|line| (*line).to_owned()));
    out.join("\n") + "\n"
}

fn entry(key: &str, value: &str) -> String {
    format!("    {key}: '{}'", value.replace('\'', "''"))
}
