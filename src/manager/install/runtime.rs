//! Makes the files that a plugin needs to run: the dependencies of its language, or its binary.
//!
//! They are in the plugin's own directory, under a name outside of the content. Only packages that
//! a file of the plugin pins are fetched. No code of the plugin or of a package runs: neither
//! install scripts nor builds of packages, and their settings are not read. First a tool fetches,
//! with the network, to a directory that is removed afterwards. Then a tool without the network
//! makes the files that are kept.

use super::pinned;
use super::workshop::{Task, ToolRun, Workshop};
use crate::author::manifest::{self, DENO_DIRECTORY as DENO, Manifest, Runtime};
use crate::author::runtime_files;
use crate::diag::{Code, Error, Result};
use crate::id::content::NODE_MODULES;
use crate::store::installed_artifacts;
use rustomize_files::{Directory, Kind};
use rustomize_plugins::PluginOptions;
use rustomize_process::Variable;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// Makes a directory ready to run. `work` is an empty directory for that.
///
/// # Errors
/// The language's own tool is missing or fails, or dependencies are not pinned.
pub(super) fn prepare(manifest: &Manifest, directory: &Path, work: &Directory, options: &PluginOptions) -> Result<()> {
    let has = |name: &str| directory.join(name).is_file();
    let workshop = || Workshop::new(directory, work, options);
    match &manifest.runtime {
        Runtime::Python => python(&workshop()?),
        Runtime::Nodejs if has("package-lock.json") => nodejs(&workshop()?),
        Runtime::Nodejs if has("package.json") && pinned::needs_packages(&directory.join("package.json")) => {
            let message = format!("'{}' has dependencies without pinned versions", directory.display());
            let error = Error::new(Code::BadPlugin, message);
            Err(error.hint("put the plugin's package-lock.json beside its package.json"))
        }
        Runtime::Deno if has("deno.lock") => deno(&workshop()?, manifest),
        Runtime::Go => go(&workshop()?, &manifest.entry),
        Runtime::Program(name) => other(&workshop()?, name),
        _ => Ok(()),
    }
}

fn make(folder: &Directory, name: &str) -> Result<Directory> {
    let cannot = |e| Error::io(&e, format!("cannot make the directory '{}': {e}", folder.path().join(name).display()));
    folder.make(Path::new(name), 0o755).map_err(cannot)
}

fn write(folder: &Directory, name: &str, text: &str) -> Result<()> {
    let cannot = |e| Error::io(&e, format!("cannot write '{}': {e}", folder.path().join(name).display()));
    folder.write(Path::new(name), text.as_bytes(), 0o644).map_err(cannot)
}

/// An environment of its own in any case: the interpreter stays the same one, wherever PATH leads
/// later. pip is in another one, which is removed afterwards.
fn python(shop: &Workshop<'_>) -> Result<()> {
    let file = shop.plugin.join("requirements.txt");
    let requirements = if file.is_file() { pinned::requirements(&file)? } else { Vec::new() };
    let found = shop.program("python3")?;
    let question = "import sys; print(getattr(sys, '_base_executable', sys.executable))";
    let real = shop.ask(&found, &["-I", "-X", "utf8", "-c", question])?;
    // Without the user's own settings and modules, and those of the working directory.
    let module = |name: &str, args: &[&OsStr]| -> Vec<OsString> {
        ["-I", "-m", name].map(OsStr::new).iter().chain(args).map(OsString::from).collect()
    };
    // Python makes no environment in a directory with a colon, as that of a source with a port has.
    // An environment without pip may move: its files name the interpreter, not their own place.
    let (venv, first) = (shop.made.join("venv"), shop.work.join("environment"));
    let without = [OsStr::new("--without-pip"), first.as_os_str()];
    shop.run(ToolRun::new(&real, &shop.work, module("venv", &without)))?;
    fs::rename(&first, &venv)
        .map_err(|e| Error::io(&e, format!("cannot keep what Python made in '{}': {e}", venv.display())))?;
    if requirements.is_empty() {
        return Ok(());
    }
    let (tools, wheels) = (shop.work.join("venv"), shop.work.join("wheels"));
    shop.run(ToolRun::new(&real, &shop.work, module("venv", &[tools.as_os_str()])))?;
    let listed = shop.work.join("requirements.txt");
    write(&shop.held.work, "requirements.txt", &(requirements.join("\n") + "\n"))?;
    let python = runtime_files::python_of(&tools);
    let pip = |task: Task, command: &[&OsStr]| {
        let mut args = module("pip", command);
        args.extend(["-r".into(), listed.clone().into_os_string()]);
        args.extend(["--only-binary", ":all:", "--require-hashes", "--no-cache-dir"].map(OsString::from));
        args.extend(["--quiet", "--disable-pip-version-check", "--no-input"].map(OsString::from));
        // No file of settings; of the environment only what a step has.
        let variables = vec![("PIP_CONFIG_FILE".into(), runtime_files::EMPTY.into())];
        shop.run(ToolRun { task, variables, ..ToolRun::new(&python, &shop.work, args) })
    };
    let wheels = wheels.as_os_str();
    pip(Task::Fetch, &[OsStr::new("download"), OsStr::new("--dest"), wheels])?;
    let packages = site_packages(&shop.held.made)?;
    let install = ["install", "--no-index", "--find-links"].map(OsStr::new);
    pip(Task::Make, &[&install[..], &[wheels, OsStr::new("--target"), packages.as_os_str()]].concat())
}

/// The directory of the environment that Python finds packages in.
fn site_packages(made: &Directory) -> Result<PathBuf> {
    let lib = Path::new("venv").join(runtime_files::PYTHON_LIBRARIES);
    let entries = made.below(&lib).and_then(|lib| lib.entries()).unwrap_or_default();
    // On Windows `site-packages` is in `Lib` itself, elsewhere in a directory such as python3.11.
    let of_versions = entries.into_iter().map(|(name, _)| lib.join(name));
    let mut folders = [lib.clone()].into_iter().chain(of_versions).map(|folder| folder.join("site-packages"));
    let found = folders.find_map(|folder| Some(made.below(&folder).ok()?.path().to_owned()));
    let found = found.and_then(|found| std::path::absolute(found).ok());
    found.ok_or_else(|| {
        let lib = made.path().join(lib);
        Error::new(Code::BadPlugin, format!("Python did not make a directory for packages in '{}'", lib.display()))
    })
}

/// npm works in a directory with the two files that say what there is, and finds no settings and no
/// code of the plugin there. It installs twice: with the network to a directory that is removed,
/// which fills npm's cache, and without the network from that cache, each package held to its sum.
fn nodejs(shop: &Workshop<'_>) -> Result<()> {
    let package = pinned::package_json(&shop.plugin.join("package.json"))?;
    let lock = pinned::package_lock(&shop.plugin.join("package-lock.json"))?;
    let node = shop.ask(&shop.program("node")?, &["-p", "process.execPath"])?;
    // That of the same installation: a program called npm may be a shim.
    let beside = runtime_files::npm_of(&node);
    let npm = match beside.filter(|npm| npm.is_file()) {
        Some(npm) => npm,
        None => dunce::canonicalize(shop.program(runtime_files::NPM)?)
            .map_err(|e| Error::io(&e, format!("cannot find npm: {e}")))?,
    };
    let no_git = format!("--git={}", runtime_files::EMPTY);
    let options = [
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--no-bin-links",
        "--no-update-notifier",
        "--loglevel=error",
        // Nothing comes from git.
        &no_git,
    ];
    let mut args = vec![npm.clone().into_os_string(), "ci".into()];
    args.extend(options.map(OsString::from));
    // The second step finds there what the first one has fetched.
    args.push(format!("--cache={}", shop.work.join("npm-cache").display()).into());
    // Neither the settings of the user nor those of the installation.
    for name in ["userconfig", "globalconfig"] {
        write(&shop.held.work, name, "")?;
        args.push(format!("--{name}={}", shop.work.join(name).display()).into());
    }
    // npm's own files, wherever they are.
    let read = || npm.ancestors().nth(2).map(Path::to_owned).into_iter().collect();
    let (fetched, kept) = (shop.work.join("npm"), shop.made.join("npm"));
    for (task, folder, above) in [(Task::Fetch, &fetched, &shop.held.work), (Task::Make, &kept, &shop.held.made)] {
        let held = make(above, "npm")?;
        write(&held, "package-lock.json", &lock)?;
        write(&held, "package.json", &package)?;
        let mut args = args.clone();
        args.extend((task == Task::Make).then(|| "--offline".into()));
        shop.run(ToolRun { task, read: read(), ..ToolRun::new(&node, folder, args) })?;
    }
    let installed = Path::new("npm").join(NODE_MODULES);
    if shop.held.made.facts(&installed).is_ok_and(|facts| facts.kind == Kind::Directory) {
        let cannot = |e| Error::io(&e, format!("cannot write '{}': {e}", shop.plugin.join(NODE_MODULES).display()));
        shop.held.made.rename(&installed, &shop.held.plugin, Path::new(NODE_MODULES)).map_err(cannot)?;
    }
    // npm's directory still has package.json and its lock, and the plugin has both itself.
    let cannot = |e| Error::io(&e, format!("cannot remove '{}': {e}", kept.display()));
    shop.held.made.remove(Path::new("npm")).map_err(cannot)
}

/// Deno fetches the packages of the lock, and runs nothing: scripts of packages run only where
/// `node_modules` exists. A second step is not needed: deno compiles a plugin when it runs it,
/// without the network.
fn deno(shop: &Workshop<'_>, manifest: &Manifest) -> Result<()> {
    pinned::deno_lock(&shop.plugin.join("deno.lock"))?;
    let deno = shop.program("deno")?;
    let mut args: Vec<OsString> = vec!["cache".into(), "--node-modules-dir=none".into()];
    args.extend(manifest::deno_lock(&shop.plugin));
    args.push(shop.plugin.join(&manifest.entry).into());
    let fetched = shop.work.join(DENO);
    make(&shop.held.work, DENO)?;
    let variables = manifest::deno_variables(&fetched);
    shop.run(ToolRun { task: Task::Fetch, variables, ..ToolRun::new(&deno, &shop.work, args) })?;
    let kept = shop.made.join(DENO);
    let cannot = |e| Error::io(&e, format!("cannot keep what deno fetched in '{}': {e}", kept.display()));
    let name = Path::new(DENO);
    // The tool may have put a link to a directory of the user there.
    shop.held.work.below(name).and_then(|fetched| installed_artifacts::remove_analyses(&fetched)).map_err(cannot)?;
    shop.held.work.rename(name, &shop.held.made, name).map_err(cannot)
}

/// Modules come from a proxy and are held to `go.sum`; then the compiler runs alone.
fn go(shop: &Workshop<'_>, entry: &str) -> Result<()> {
    let go = shop.program("go")?;
    let root = shop.ask(&go, &["env", "GOROOT"])?;
    let has = |name: &str| shop.plugin.join(name).is_file();
    let is_vendored = has("vendor/modules.txt");
    make(&shop.held.made, "bin")?;
    let cache = |name: &str| shop.work.join(name).into_os_string();
    let variables = |proxy: Option<&str>| -> Vec<Variable> {
        let mut all: Vec<(&'static str, OsString)> = vec![
            ("GOENV", "off".into()),
            ("GOFLAGS", "-modcacherw".into()),
            ("GOTOOLCHAIN", "local".into()),
            ("GOWORK", "off".into()),
            ("GO111MODULE", "on".into()),
            ("CGO_ENABLED", "0".into()),
            // go.sum says what modules are; no other program fetches them.
            ("GOSUMDB", "off".into()),
            ("GOVCS", "*:off".into()),
            ("GOPATH", cache("go")),
            ("GOMODCACHE", cache("modules")),
            ("GOCACHE", cache("built")),
        ];
        all.extend(proxy.map(|proxy| ("GOPROXY", proxy.into())));
        all.into_iter().map(|(name, value)| (name.into(), value)).collect()
    };
    let read = || if root.is_absolute() { vec![root.clone()] } else { Vec::new() };
    if has("go.sum") && !is_vendored {
        let args = ["mod", "download"];
        let step = ToolRun::new(&go, &shop.plugin, args);
        shop.run(ToolRun { task: Task::Fetch, variables: variables(None), read: read(), ..step })?;
    }
    let mode = if is_vendored { "-mod=vendor" } else { "-mod=readonly" };
    let mut args = ["build", "-trimpath", "-buildvcs=false", mode, "-o"].map(OsString::from).to_vec();
    args.extend([runtime_files::go_program(&shop.made).into_os_string(), "--".into(), entry.into()]);
    shop.run(ToolRun { variables: variables(Some("off")), read: read(), ..ToolRun::new(&go, &shop.plugin, args) })
}

/// The answer to `steps` of a program for another language that fetches in a step of its own.
const TWO_STEPS: &str = "fetch-deps install-deps";

/// A program of the machine for another language. One that knows no steps does all in one, and so
/// has the network in it.
fn other(shop: &Workshop<'_>, name: &str) -> Result<()> {
    let program = shop.program(&format!("rustomize-runtime-{name}"))?;
    let plugin = shop.plugin.as_os_str();
    let steps = shop.ask(&program, &["steps"]);
    if !steps.is_ok_and(|steps| steps.as_os_str() == TWO_STEPS) {
        let step = ToolRun::new(&program, &shop.work, [OsStr::new("install-deps"), plugin]);
        return shop.run(ToolRun { task: Task::FetchAndMake, ..step });
    }
    let fetched = shop.work.join("fetched");
    make(&shop.held.work, "fetched")?;
    for (task, command) in [(Task::Fetch, "fetch-deps"), (Task::Make, "install-deps")] {
        let args = [OsStr::new(command), plugin, fetched.as_os_str()];
        shop.run(ToolRun { task, ..ToolRun::new(&program, &shop.work, args) })?;
    }
    Ok(())
}
