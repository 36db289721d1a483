//! Plugins written in Go for kustomize: built from their unchanged source, or adopted as they are.
//!
//! A genuine Go plugin, what `go build -buildmode=plugin` makes, can only be loaded by a Go program
//! of just its versions and flags. [`build`] makes a shared object of ours from the same source
//! instead: Go compiles it together with the files of the folder `go`, which are laid over the
//! directory and never written to it. [`adopt`] makes that Go program, for those who lack the
//! source.
//!
//! A build of a kustomization compiles nothing, but for a genuine Go plugin that the user lets it
//! adopt. Neither touches the plugin's own file: kustomize still uses that.

use super::classify::{GoBuild, GoModule, SharedObject, classify};
use super::failure::bad_plugin;
use super::failure::cannot;
use super::options::{GoAdoption, PluginOptions};
use super::shared_object::{LoadableObject, SharedObjectLoader, SharedObjectProcess};
use crate::diag::{Error, Result};
use regex::Regex;
use rustomize_base::hex::hex;
use rustomize_base::shell::quoted;
use rustomize_base::shown;
use rustomize_files::atomic::Staged;
use rustomize_files::{self as files, RECORD};
use rustomize_process::{Children, Failure, Launch, Limits, Variable};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time limit of one command of Go: it may fetch modules and compile all of them.
const BUILD_TIME: Duration = Duration::from_mins(30);

/// The version of sigs.k8s.io/kustomize/api and kyaml for plugins that name none: what kustomize
/// v5.8.1 is made of.
const KUSTOMIZE_API: &str = "v0.21.1";

const KUSTOMIZE_GO: &str = include_str!("go/kustomize.go");
const CSHARED_GO: &str = include_str!("go/cshared.go");
const MAIN_GO: &str = include_str!("go/main.go");
const HOST_GO: &str = include_str!("go/host.go");
const HEADER: &str = rustomize_plugin_abi::HEADER;

/// The result of [`build`] or [`adopt`].
#[derive(Debug)]
pub struct Built {
    pub path: PathBuf,
    /// The modes of the plugin.
    pub modes: Vec<String>,
    /// As in `go1.26.8`.
    pub go: String,
}

/// Builds the Go plugin in a directory into `<kind>.so` beside its sources, or into `output`. The
/// sources stay as they are. An existing file is replaced after the new one was opened and has
/// named its modes. It costs a run of the Go compiler.
///
/// # Errors
/// The directory contains no plugin, this machine lacks Go or a C compiler, or Go reports an error
/// in the source.
pub fn build(directory: &Path, output: Option<&Path>, options: &PluginOptions) -> Result<Built> {
    let directory = dunce::canonicalize(directory).map_err(cannot("find", directory))?;
    let source = GoSource::find(&directory)?;
    let default = directory.join(format!("{}.so", source.kind));
    let output = output.unwrap_or(&default);
    let go = GoTool::find(&directory, &options.children)?;
    let work = options
        .children
        .directory("rustomize-go-")
        .map_err(cannot("make a directory in", &tempfile::env::temp_dir()))?;
    let made = compile(&source, &directory, &go, work.path(), options)?;
    match classify(&made) {
        Ok(SharedObject::Plugin) => {}
        found => return Err(bad_plugin(format!("Go has made something else than a plugin: {found:?}"))),
    }
    let modes = modes_of(&made, SharedObjectLoader::Helper, options)?;
    if modes.is_empty() {
        let message = format!("the KustomizePlugin of '{}' has no method that this knows", source.file.display());
        return Err(bad_plugin(message).hint(
            "it is Generate() (resmap.ResMap, error) or Transform(resmap.ResMap) error, with sigs.k8s.io/kustomize/api/resmap",
        ));
    }
    place(&made, output)?;
    Ok(Built { path: output.to_owned(), modes, go: go.version })
}

/// Compiles the plugin of a directory into `plugin.so` in the directory `work`, with the files that
/// it has in common with all plugins.
fn compile(source: &GoSource, directory: &Path, go: &GoTool, work: &Path, options: &PluginOptions) -> Result<PathBuf> {
    let write = |name: &str, text: &[u8]| {
        let path = work.join(name);
        fs::write(&path, text).map_err(cannot("write", &path)).map(|()| path)
    };
    // The module file is a copy: Go adds what the source needs, and the user's stays as it is.
    let mut over: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    let modfile = match &go.module {
        Some(module) => {
            if let Ok(sums) = files::read(&module.with_extension("sum"), RECORD) {
                write("go.sum", &sums)?;
            }
            let text = files::read_text(module, RECORD).map_err(cannot("read", module))?;
            let copy = write("go.mod", with_go_line(&text).as_bytes())?;
            let text = with_api(go, directory, &copy)?;
            write("go.mod", text.as_bytes())?
        }
        None => {
            let module = write("go.mod", module_file(&go.version).as_bytes())?;
            over.insert(directory.join("go.mod"), module.clone());
            module
        }
    };
    let mut files = vec![("kustomize.go", KUSTOMIZE_GO), ("cshared.go", CSHARED_GO), ("plugin.h", HEADER)];
    files.extend((!source.has_main).then_some(("main.go", MAIN_GO)));
    for (name, text) in files {
        let name = format!("rustomize_{name}");
        over.insert(directory.join(&name), write(&name, text.as_bytes())?);
    }
    let overlay = write("overlay.json", serde_json::json!({ "Replace": over }).to_string().as_bytes())?;
    let made = work.join("plugin.so");
    let flag = |name: &str, path: &Path| {
        let mut flag = OsString::from(name);
        flag.push(path);
        flag
    };
    let args = vec![
        "build".into(),
        "-mod=mod".into(),
        flag("-modfile=", &modfile),
        flag("-overlay=", &overlay),
        "-buildmode=c-shared".into(),
        "-trimpath".into(),
        "-ldflags=-s -w".into(),
        "-o".into(),
        made.clone().into_os_string(),
        ".".into(),
    ];
    go.run(directory, args, Vec::new(), options)?;
    Ok(made)
}

/// Starts a plugin, and returns the modes that it reports.
fn modes_of(plugin: &Path, loader: SharedObjectLoader, options: &PluginOptions) -> Result<Vec<String>> {
    let object = LoadableObject::placed(plugin.to_owned(), loader);
    let process = SharedObjectProcess::start(options, &options.isolation, &object, None)?;
    Ok(process.modes().to_vec())
}

/// Puts a file where it is wanted, in one step.
fn place(from: &Path, to: &Path) -> Result<()> {
    let place = || -> std::io::Result<()> {
        let mut staged = Staged::beside(to)?;
        std::io::copy(&mut files::open(from)?, &mut staged)?;
        staged.put_for_good(to, 0o755)
    };
    place().map_err(cannot("write", to))
}

/// The module with the interface of plugins.
const API: &str = "sigs.k8s.io/kustomize/api";

/// The first version of [`API`] whose packages the files of the folder `go` are compiled with.
const OLDEST_API: semver::Version = semver::Version::new(0, 8, 8);

/// A module file whose language is new enough for the files of the folder `go`: Go 1.18 at least. A
/// file that does not say is for 1.16.
fn with_go_line(text: &str) -> String {
    let line = regex(r"(?m)^go[ \t]+(\d+)\.(\d+)[^\n]*$");
    match line.captures(text) {
        None => format!("{}\n\ngo 1.18\n", text.trim_end()),
        Some(found) => {
            let number = |i| found.get(i).and_then(|n| n.as_str().parse::<u32>().ok()).unwrap_or_default();
            if (number(1), number(2)) >= (1, 18) { text.to_owned() } else { line.replace(text, "go 1.18").into_owned() }
        }
    }
}

/// A module file with the one version of kustomize's packages that the plugin gets: the one that
/// the file chooses, or that kustomize v5.8.1 is made of if it chooses none. Without a replacement
/// Go would take another version for packages that this one lacks.
fn with_api(go: &GoTool, directory: &Path, modfile: &Path) -> Result<String> {
    let mut text = fs::read_to_string(modfile).map_err(cannot("read", modfile))?;
    let version = match go.api(directory, modfile)? {
        Some(version) => version,
        None => {
            let kyaml = API.replace("/api", "/kyaml");
            text = format!("{}\n\nrequire {API} {KUSTOMIZE_API}\n\nrequire {kyaml} {KUSTOMIZE_API}\n", text.trim_end());
            KUSTOMIZE_API.to_owned()
        }
    };
    if semver::Version::parse(version.trim_start_matches('v')).is_ok_and(|v| v < OLDEST_API) {
        return Err(too_old(&format!("{API} {version}")));
    }
    // The file may have a replacement of its own: another version, or a directory, which has none.
    if version.is_empty() || regex(r"(?m)^\s*(replace\s+)?sigs\.k8s\.io/kustomize/api\s.*=>").is_match(&text) {
        return Ok(text);
    }
    Ok(format!("{}\n{}", text.trim_end(), only_api(&version)))
}

fn only_api(version: &str) -> String {
    format!("\nreplace {API} => {API} {version}\n")
}

fn too_old(what: &str) -> Error {
    bad_plugin(format!("the plugin is for {what}: the oldest that works is {API} v{OLDEST_API}"))
        .hint("change its imports and its go.mod to that version or a later one")
}

/// A module that needs nothing but kustomize's packages.
fn module_file(go: &str) -> String {
    let version = go.trim_start_matches("go");
    format!(
        "module rustomize.invalid/plugin\n\ngo {version}\n\nrequire (\n\tsigs.k8s.io/kustomize/api {KUSTOMIZE_API}\n\tsigs.k8s.io/kustomize/kyaml {KUSTOMIZE_API}\n)\n"
    ) + &only_api(KUSTOMIZE_API)
}

/// The source of a plugin.
struct GoSource {
    /// The file that declares KustomizePlugin, and is named by the kind.
    file: PathBuf,
    kind: String,
    has_main: bool,
}

impl GoSource {
    fn find(directory: &Path) -> Result<GoSource> {
        let declares = regex(r"(?m)^(var\s+|\s+)KustomizePlugin\b");
        let is_main = regex(r"(?m)^func\s+main\s*\(");
        let is_old = regex(r#"(?m)^(?:import)?\s+(?:\w+\s+)?"(sigs\.k8s\.io/kustomize/(?:v[23]|pkg|k8sdeps)/[^"]*)"#);
        let mut found: Vec<PathBuf> = Vec::new();
        let mut has_main = false;
        let entries = fs::read_dir(directory).map_err(cannot("read", directory))?;
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !name.ends_with(".go") || name.ends_with("_test.go") || name.starts_with(['_', '.']) {
                continue;
            }
            let text = files::read(&path, RECORD).map_err(cannot("read", &path))?;
            let text = String::from_utf8_lossy(&text);
            if let Some(import) = is_old.captures(&text).and_then(|found| found.get(1)) {
                return Err(too_old(import.as_str()));
            }
            has_main |= is_main.is_match(&text);
            if declares.is_match(&text) {
                found.push(path);
            }
        }
        match found.as_slice() {
            [file] => {
                let kind = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                Ok(GoSource { file: file.clone(), kind, has_main })
            }
            [] => Err(bad_plugin(format!("no Go file in '{}' declares 'var KustomizePlugin'", directory.display()))
                .hint("name the directory with the source of one plugin")),
            _ => {
                let names: Vec<String> = found.iter().map(|path| format!("'{}'", path.display())).collect();
                Err(bad_plugin(format!("'KustomizePlugin' is declared in several files: {}", names.join(", "))))
            }
        }
    }
}

fn regex(pattern: &str) -> Regex {
    #[expect(clippy::unwrap_used, reason = "a pattern of this file; each is compiled by the tests")]
    Regex::new(pattern).unwrap()
}

/// The Go of this machine.
struct GoTool {
    /// As in `go1.26.8`.
    version: String,
    /// The module file that holds for a directory.
    module: Option<PathBuf>,
    /// Runs the Go command as a child.
    children: Children,
}

impl GoTool {
    fn find(directory: &Path, children: &Children) -> Result<GoTool> {
        let names = ["GOVERSION", "GOMOD", "CC"];
        let launch = go_launch("go", directory).args(["env"]).args(names);
        let printed = children.run(launch.limited(quiet())).map_err(|failed| match failed.failure {
            Failure::NotStarted(e) if e.kind() == std::io::ErrorKind::NotFound => {
                bad_plugin("no 'go' program on path: Go plugins are built with Go".to_owned())
                    .hint("install Go 1.24 or later, and a C compiler")
            }
            failure => bad_plugin(format!("'go env' failed: {failure:?}: {}", failed.stderr.trim_end())),
        })?;
        let text = String::from_utf8_lossy(&printed).into_owned();
        let mut lines = text.lines().map(str::to_owned);
        let mut next = || lines.next().unwrap_or_default();
        let (version, module, compiler) = (next(), next(), next());
        let module = Some(PathBuf::from(module)).filter(|path| path.is_file());
        // The command may have arguments, as in `ccache gcc`.
        let program = compiler.split_whitespace().next().unwrap_or("gcc").to_owned();
        let launch = go_launch(&program, directory).args(["--version"]);
        if let Err(failed) = children.run(launch.limited(quiet()))
            && matches!(failed.failure, Failure::NotStarted(_))
        {
            return Err(bad_plugin(format!(
                "no C compiler: Go makes shared objects with one, and '{program}' is not on path"
            ))
            .hint("install gcc or clang, or name yours in the variable CC"));
        }
        Ok(GoTool { version, module, children: children.clone() })
    }

    /// The version of kustomize's packages that a module file chooses; `None` if it has none, empty
    /// if it is a directory.
    fn api(&self, directory: &Path, modfile: &Path) -> Result<Option<String>> {
        let mut file = OsString::from("-modfile=");
        file.push(modfile);
        let format = "{{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}";
        let launch = go_launch("go", directory).args(["list", "-mod=mod"]).args([file]).args(["-m", "-f", format, API]);
        match self.children.run(launch.limited(Limits { timeout: Some(BUILD_TIME), ..quiet() })) {
            Ok(printed) => Ok(Some(String::from_utf8_lossy(&printed).trim().to_owned())),
            Err(failed) if failed.stderr.contains("not a known dependency") => Ok(None),
            Err(failed) => {
                Err(bad_plugin(format!("'go list' in '{}' failed:\n{}", directory.display(), failed.stderr.trim_end())))
            }
        }
    }

    /// Runs Go, whose messages are on stderr.
    fn run(
        &self,
        directory: &Path,
        args: Vec<OsString>,
        variables: Vec<Variable>,
        options: &PluginOptions,
    ) -> Result<()> {
        let verb = args.first().map(|arg| arg.to_string_lossy().into_owned()).unwrap_or_default();
        let launch = options.limited(go_launch("go", directory).args(args).variables(variables));
        let limits = Limits { timeout: Some(BUILD_TIME), ..launch.limits };
        self.children.run(launch.limited(limits)).map(drop).map_err(|failed| match failed.failure {
            Failure::Status(status) => bad_plugin(format!("'go {verb}' in '{}' failed: {status}", directory.display()))
                .hint("the output of Go is above"),
            failure => bad_plugin(format!("'go {verb}' in '{}' failed: {failure:?}", directory.display())),
        })
    }
}

fn quiet() -> Limits {
    Limits { timeout: Some(Duration::from_mins(1)), output: 1 << 20, ..Limits::default() }
}

/// A program of Go in a directory.
fn go_launch(program: &str, directory: &Path) -> Launch {
    // A workspace would choose other versions than the plugin's own module.
    let variables = [("GOWORK".into(), "off".into()), ("CGO_ENABLED".into(), "1".into())];
    Launch::new(program).in_directory(directory).variables(variables)
}

/// The path of the Go program for a genuine plugin, below the directory for such programs. Its name
/// is made of everything in which the two must agree.
pub fn host_for(build: &GoBuild, hosts: &Path) -> PathBuf {
    let mut hash = Sha256::new();
    let text = format!("{}\n{}\n{:?}\n{HOST_GO}{KUSTOMIZE_GO}", build.version, host_module(build), flags(build));
    hash.update(text.as_bytes());
    let name: String = hex(&hash.finalize()[..16]);
    hosts.join(name).join("host")
}

/// The module file of a Go program with just the modules of a plugin.
fn host_module(build: &GoBuild) -> String {
    let mut text =
        format!("module rustomize.invalid/host\n\ngo {}\n\nrequire (\n", build.version.trim_start_matches("go"));
    let mut replacements = String::new();
    for module in &build.modules {
        text.push_str(&format!("\t{} {}\n", module.path, module.version));
        if let Some(by) = &module.replaced_by {
            replacements.push_str(&format!("replace {} => {} {}\n", module.path, by.path, by.version));
        }
    }
    text + ")\n" + &replacements
}

/// The flags and variables that a program must share with a plugin to load it.
fn flags(build: &GoBuild) -> (Vec<OsString>, Vec<Variable>) {
    let (mut flags, mut variables) = (Vec::new(), Vec::new());
    for (name, value) in &build.settings {
        match name.as_str() {
            "-trimpath" | "-race" | "-msan" | "-asan" | "-tags" | "-gcflags" | "-asmflags" => {
                flags.push(format!("{name}={value}").into());
            }
            "GOAMD64" | "GOARM64" | "GORISCV64" | "GOPPC64" | "GOEXPERIMENT" => {
                variables.push((name.clone().into(), value.into()));
            }
            _ => {}
        }
    }
    (flags, variables)
}

/// Builds the Go program that can load a genuine Go plugin, and tries it. Later builds of
/// kustomizations find it. It costs a run of the Go compiler of the plugin's version.
///
/// # Errors
/// The file is no Go plugin, it has modules that cannot be had again, or Go does not load it after
/// all.
pub fn adopt(path: &Path, options: &PluginOptions) -> Result<Built> {
    let path = &dunce::canonicalize(path).map_err(cannot("find", path))?;
    let build = adoptable(path)?;
    let Some(hosts) = &options.go_hosts else {
        return Err(bad_plugin("there is no cache directory to keep the program in".to_owned())
            .hint("RUSTOMIZE_CACHE_DIR names a directory that can be written to"));
    };
    let host = host_for(&build, hosts);
    let adopted = |modes| Built { path: host.clone(), modes, go: build.version.clone() };
    let by_known_host = || modes_of(path, SharedObjectLoader::GoProgram(host.clone()), options);
    if host.is_file() {
        return by_known_host().map(adopted);
    }
    files::make_folders(hosts).map_err(cannot("make", hosts))?;
    // Another process that meets the plugin at the same time waits, and finds the program.
    let turn = fs::File::create(hosts.join("lock")).and_then(|file| file.lock().map(|()| file));
    let _turn = turn.map_err(cannot("lock", hosts))?;
    if host.is_file() {
        return by_known_host().map(adopted);
    }
    let work = options
        .children
        .directory("rustomize-go-")
        .map_err(cannot("make a directory in", &tempfile::env::temp_dir()))?;
    let made = build_host(&build, work.path(), options)?;
    // Go says now whether it opens the plugin, and not in the middle of somebody's build.
    let modes = modes_of(path, SharedObjectLoader::GoProgram(made.clone()), options)
        .map_err(|e| e.hint(format!("build the plugin's source instead: {}", build_command(path))))?;
    let folder = host.parent().unwrap_or(hosts);
    files::make_folders(folder).map_err(cannot("make", folder))?;
    place(&made, &host)?;
    Ok(adopted(modes))
}

/// The facts about the build of a genuine Go plugin.
///
/// # Errors
/// The file is not a Go plugin, or one of its modules cannot be built again.
fn adoptable(path: &Path) -> Result<GoBuild> {
    let shown = path.display();
    let build = match classify(path) {
        Ok(SharedObject::GoPlugin(build)) => build,
        Ok(SharedObject::Plugin) => {
            return Err(bad_plugin(format!("'{shown}' is used as it is: there is nothing to adopt")));
        }
        Ok(SharedObject::Foreign) => return Err(bad_plugin(format!("'{shown}' is a shared object, but no Go plugin"))),
        Err(unusable) => return Err(bad_plugin(format!("'{shown}' {unusable}")).hint(unusable.hint())),
    };
    let is_lost = |module: &&GoModule| matches!(used(module).version.as_str(), "" | "(devel)");
    if let Some(module) = build.modules.iter().find(is_lost) {
        let message =
            format!("'{shown}' was built with a directory of its own as {}: nobody can build that again", module.path);
        return Err(bad_plugin(message).hint(format!("build the plugin's source: {}", build_command(path))));
    }
    Ok(build)
}

/// The module that takes the place of a module, or the module itself.
fn used(module: &GoModule) -> &GoModule {
    module.replaced_by.as_deref().unwrap_or(module)
}

/// Builds the program that can load a Go plugin, in a directory.
fn build_host(build: &GoBuild, work: &Path, options: &PluginOptions) -> Result<PathBuf> {
    let go = GoTool::find(work, &options.children)?;
    let known = build.modules.iter().map(used).filter(|module| !module.sum.is_empty());
    let sums: String = known.map(|m| format!("{} {} {}\n", m.path, m.version, m.sum)).collect();
    let files = [
        ("go.mod", host_module(build)),
        ("go.sum", sums),
        ("host.go", HOST_GO.to_owned()),
        ("kustomize.go", KUSTOMIZE_GO.to_owned()),
    ];
    for (name, text) in files {
        let path = work.join(name);
        fs::write(&path, text).map_err(cannot("write", &path))?;
    }
    let (flags, mut variables) = flags(build);
    if go.version != build.version {
        variables.push(("GOTOOLCHAIN".into(), build.version.clone().into()));
    }
    let made = work.join("made");
    let mut args: Vec<OsString> = vec!["build".into(), "-mod=mod".into()];
    args.extend(flags);
    args.extend(["-o".into(), made.clone().into_os_string(), ".".into()]);
    go.run(work, args, variables, options)?;
    Ok(made)
}

/// Adopts a genuine Go plugin that a build has met for the first time, if the user lets it, and
/// says whether it did. It costs as much as [`adopt`].
///
/// # Errors
/// As [`adopt`].
pub fn adopt_first(path: &Path, options: &PluginOptions) -> Result<bool> {
    let is_genuine = matches!(classify(path), Ok(SharedObject::GoPlugin(_)));
    let question = || {
        format!(
            "'{}' is a Go plugin. Before its first use Go has to build a program that can load it.\n\
             Build it now? [y/N] ",
            shown::line(&path.to_string_lossy())
        )
    };
    let may_adopt = || match options.go_adoption {
        GoAdoption::Never => false,
        GoAdoption::Always => true,
        GoAdoption::Asked => options.host.confirms(&question()),
    };
    if !is_genuine || !may_adopt() {
        return Ok(false);
    }
    let shown = path.display();
    options.say(&format!("Adopting the Go plugin '{shown}': Go builds a program that can load it, once"));
    adopt(path, options).map_err(|e| e.context(format!("adopting the plugin '{shown}'")))?;
    Ok(true)
}

/// Why a build does not use a genuine Go plugin that was not adopted, and how it is adopted.
pub fn not_adopted(path: &Path, build: &GoBuild, options: &PluginOptions) -> Error {
    let shown = path.display();
    let api = build.api().map_or(String::new(), |api| format!(", {API} {api}"));
    let version = if build.version.is_empty() { "some version of Go" } else { &build.version };
    let trimmed = if build.trims_paths() { ", -trimpath" } else { "" };
    let mut error = bad_plugin(format!(
        "the plugin '{shown}' is a Go plugin ({version}{api}{trimmed}) that was not adopted: only a Go program of just these versions can load it"
    ));
    error = error.hint(format!(
        "let builds make that program with --adopt-go-plugins, or make it once: rustomize plugin adopt {}",
        quoted(&shown.to_string())
    ));
    if let Some(source) = source_of(path) {
        let (source, build) = (source.display(), build_command(path));
        error = error.hint(format!("or build its source '{source}', which replaces the file: {build}"));
    }
    let folder = path.parent().filter(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
    match GoTool::find(folder, &options.children) {
        Ok(_) => error,
        Err(missing) => error.hint(format!("either needs Go and a C compiler on this machine: {missing}")),
    }
}

/// The command that builds the source of a shared object, which seems to be beside it.
fn build_command(path: &Path) -> String {
    let source = source_of(path);
    match source.as_deref().and_then(Path::parent) {
        Some(folder) => format!("rustomize plugin build {}", quoted(&folder.to_string_lossy())),
        None => "rustomize plugin build DIR".to_owned(),
    }
}

/// The source that seems to belong to a shared object.
pub fn source_of(path: &Path) -> Option<PathBuf> {
    Some(path.with_extension("go")).filter(|source| source.is_file())
}

#[cfg(test)]
mod tests {
    use super::{GoSource, build_command, host_module, module_file, not_adopted, with_go_line};
    use crate::PluginOptions;
    use crate::classify::{GoBuild, GoModule};
    use rustomize_base::shell::quoted;
    use std::path::Path;

    #[track_caller]
    fn find(files: &[(&str, &str)]) -> Result<(String, bool), String> {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        GoSource::find(directory.path()).map(|source| (source.kind, source.has_main)).map_err(|e| e.to_string())
    }

    #[test]
    fn the_kind_is_the_name_of_the_file_with_the_symbol() {
        let plugin = ("DatePrefixer.go", "package main\n\nvar KustomizePlugin plugin //nolint\n");
        assert_eq!(find(&[plugin]), Ok(("DatePrefixer".to_owned(), false)));
        assert_eq!(find(&[plugin, ("m.go", "package main\nfunc main() {}\n")]), Ok(("DatePrefixer".to_owned(), true)));
        let grouped = ("A.go", "package main\n\nvar (\n\tKustomizePlugin = plugin{}\n)\n");
        assert_eq!(find(&[grouped]), Ok(("A".to_owned(), false)));
        assert!(find(&[plugin, grouped]).unwrap_err().contains("several files"));
        assert!(find(&[("a_test.go", "var KustomizePlugin plugin\n")]).unwrap_err().contains("no Go file"));
        assert!(find(&[("a.go", "// not a var: KustomizePlugin\n")]).unwrap_err().contains("no Go file"));
    }

    #[test]
    fn hints_name_paths_as_words_of_the_shell() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("it's mine");
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("A.so");
        std::fs::write(path.with_extension("go"), "package main\n").unwrap();
        let error = not_adopted(&path, &GoBuild::default(), &PluginOptions::default());
        let ends = |command: &str, path: &Path| {
            let end = format!("{command} {}", quoted(&path.to_string_lossy()));
            assert!(error.hints().iter().any(|hint| hint.ends_with(&end)), "{end}: {error}");
        };
        ends("rustomize plugin adopt", &path);
        ends("rustomize plugin build", &folder);
        assert_eq!(build_command(&directory.path().join("B.so")), "rustomize plugin build DIR");
    }

    #[test]
    fn the_language_of_a_module_file_is_raised() {
        assert_eq!(
            with_go_line("module a\n\ngo 1.12\n\nrequire b v1.0.0\n"),
            "module a\n\ngo 1.18\n\nrequire b v1.0.0\n"
        );
        assert_eq!(with_go_line("module a\ngo 1.17 // old"), "module a\ngo 1.18");
        assert_eq!(with_go_line("module a\n"), "module a\n\ngo 1.18\n");
        for text in ["module a\n\ngo 1.18\n", "module a\n\ngo 1.24.6\n", "module go\n\ngo 2.0\n"] {
            assert_eq!(with_go_line(text), text);
        }
    }

    #[test]
    fn module_files() {
        assert!(module_file("go1.26.8").contains("\ngo 1.26.8\n"));
        let module =
            |path: &str, version: &str| GoModule { path: path.into(), version: version.into(), ..GoModule::default() };
        let mut replaced = module("example.com/a", "v1.0.0");
        replaced.replaced_by = Some(Box::new(module("example.com/fork", "v1.2.0")));
        let build = GoBuild {
            version: "go1.26.8".into(),
            modules: vec![replaced, module("b.io/c", "v0.1.0")],
            settings: vec![],
        };
        let text = host_module(&build);
        assert!(text.contains("\texample.com/a v1.0.0\n\tb.io/c v0.1.0\n)\n"), "{text}");
        assert!(text.ends_with("replace example.com/a => example.com/fork v1.2.0\n"), "{text}");
    }
}
