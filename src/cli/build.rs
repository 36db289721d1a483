//! `build`: from flags to options, and the result to where it is wanted.

use super::args::{Build, Results, Validate};
use super::depfile::{self, Rule};
use super::findings::Verdict;
use super::messages::Messages;
use super::settings::Found;
use super::{cache, compat, managed, output, plugin_flags, roots, signals, status_line};
use crate::check::Known;
use crate::diag::{Code, Error, Warning};
use crate::load::artifact_reference::is_artifact;
use crate::load::{
    Disk, FileLimit, Loader, Lock, Memory, Overlay, RemoteOptions, RepoSpec, Restrictor, Secrets, clean,
};
use crate::resource::Order;
use crate::shell::quoted;
use crate::stage::{HelmOptions, Options, UsedEntries};
use crate::workspace::{self, Output, Workspace};
use anyhow::{Context, Result, bail};
use std::io::Read;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs `validate`: builds as `build` does, and writes nothing but errors and warnings.
///
/// # Errors
/// Flags that cannot be, --output among them, a build that fails, or with --schema a resource that
/// does not fit the schema of its kind.
pub fn validate(args: Validate, messages: &mut Messages) -> Result<()> {
    let Validate { build: args, schema, kubernetes_version } = args;
    if args.output.is_some() {
        bail!("'validate' writes nothing, and --output asks for a file: leave it out, or use 'build'");
    }
    let is_checked = schema || kubernetes_version.is_some();
    let known = is_checked.then(|| Known::new(kubernetes_version.as_deref()).map(Arc::new)).transpose()?;
    run(&Build { results: Results::Dropped, known, ..args }, messages)
}

/// Runs `build`.
///
/// # Errors
/// Flags that cannot be, a build that fails, output that cannot be written. Nothing is on stdout
/// then.
pub fn run(args: &Build, messages: &mut Messages) -> Result<()> {
    let directory = match args.directory.as_slice() {
        _ if args.all || args.shard.is_some() || args.layout.is_some() => return roots::run(args, messages),
        [] => ".",
        [directory] => directory,
        _ if args.stdin_as.is_some() => bail!("--stdin-as is for one directory"),
        _ => return roots::run(args, messages),
    };
    if args.depfile.is_some() && args.output.as_deref().is_some_and(Path::is_dir) {
        bail!("--depfile needs one file for a result, and the one that --output names is a directory");
    }
    let options = options(args, directory, true)?;
    // The process ends after this: its texts need not be freed.
    let workspace = ManuallyDrop::new(args.jobs.map_or_else(Workspace::new, Workspace::with_jobs));
    let files = Files::of(args, directory)?;
    let built = workspace::build(&workspace, &*files.loader, directory, &options);
    status_line::end();
    for warning in &built.warnings {
        messages.warning(warning, None);
    }
    let output = built.value?;
    files.check_given(&output)?;
    if args.strict {
        let allowed = Found::above(directory)?;
        let findings = allowed.others(output.findings().to_vec());
        strictly(allowed.others(built.warnings).len(), &findings, messages)?;
    }
    if args.results == Results::Dropped {
        // A resource that cannot be printed fails here as it fails `build`.
        output.check_printable()?;
        let mut verdict = Verdict::default();
        if let Some(known) = &args.known {
            verdict.add(output.check(known)?, None, messages);
        }
        output.leave();
        return verdict.end();
    }
    output::write(&output, args.output.as_deref())?;
    if let (Some(depfile), Some(target)) = (&args.depfile, &args.output) {
        depfile::write(depfile, &[Rule { target: target.clone(), files: output.files() }])?;
    }
    output.leave();
    Ok(())
}

/// The files that a build of one root reads.
pub struct Files {
    pub loader: Box<dyn Loader>,
    /// The directory, the file that stdin stands for, as --stdin-as names it, and its place.
    given: Option<(String, PathBuf, PathBuf)>,
}

impl Files {
    /// The files of the disk, with stdin in place of the file that --stdin-as names.
    ///
    /// # Errors
    /// The directory does not exist, or stdin cannot be read.
    pub fn of(args: &Build, directory: &str) -> Result<Files> {
        let Some(file) = &args.stdin_as else { return Ok(Files { loader: Box::new(Disk::new()), given: None }) };
        let (place, text) = given(directory, file)?;
        let text = Memory::from_iter([(&place, text.as_slice())]);
        let loader = Box::new(Overlay::new(Disk::new(), text));
        Ok(Files { loader, given: Some((directory.to_owned(), file.clone(), place)) })
    }

    /// Refuses a --stdin-as whose file the build has not read.
    ///
    /// # Errors
    /// The build has not read it.
    pub fn check_given(&self, output: &Output<'_>) -> Result<()> {
        match &self.given {
            Some((directory, file, place)) if !output.files().contains(place) => bail!(
                "the kustomization does not read '{}', which --stdin-as names\n  hint: add it: cd {} && rustomize edit add \
                 resource --no-verify {}",
                file.display(),
                quoted(directory),
                quoted(&file.to_string_lossy())
            ),
            _ => Ok(()),
        }
    }
}

/// Takes warnings, which are printed already, and findings for errors.
///
/// # Errors
/// There is one.
pub fn strictly(warnings: usize, findings: &[Warning], messages: &mut Messages) -> Result<()> {
    findings.iter().for_each(|finding| messages.finding(finding, None));
    match (warnings, findings.len()) {
        (0, 0) => Ok(()),
        (warnings, findings) => bail!("--strict: warnings: {warnings}, findings: {findings}"),
    }
}

/// The place of the file that stdin stands for, and the bytes of stdin.
fn given(directory: &str, file: &Path) -> Result<(PathBuf, Vec<u8>)> {
    let place = Disk::new().directory(Path::new(directory)).with_context(|| format!("'{directory}'"))?;
    let place = PathBuf::from(clean(&place.join(file).to_string_lossy()));
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text).context("cannot read stdin")?;
    Ok((place, text))
}

/// The options for the build of a root, from the flags. `first` is false for the second and later
/// roots of a command: they show no warning again and sync no environment again.
///
/// # Errors
/// Flags that cannot be, or an environment that cannot be synced.
pub fn options(args: &Build, root: &str, first: bool) -> Result<Options> {
    let restrictor = match args.load_restrictor.as_str() {
        "LoadRestrictionsRootOnly" | "" => Restrictor::RootOnly,
        "LoadRestrictionsNone" => Restrictor::None,
        other => bail!(
            "illegal flag value --load-restrictor {other}; legal values: [LoadRestrictionsRootOnly LoadRestrictionsNone]"
        ),
    };
    let mut order = None;
    for value in &args.reorder {
        say_once(
            first,
            "Flag --reorder has been deprecated, use the new 'sortOptions' field in kustomization.yaml instead.",
        );
        order = Some(match value.as_str() {
            "legacy" => Order::Legacy,
            "none" => Order::Fifo,
            other => {
                let message = format!("illegal flag value --reorder {other}; legal values: [legacy none]");
                return Err(Error::new(Code::Usage, message).hint("write --reorder legacy or --reorder none").into());
            }
        });
    }
    let managed_by_flag = args.enable_managedby_label.unwrap_or(false);
    if args.enable_managedby_label.is_some() {
        say_once(
            first,
            "Flag --enable-managedby-label has been deprecated, use 'buildMetadata' in kustomization.yaml instead.",
        );
    }
    let plugins_enabled = args.enable_alpha_plugins.unwrap_or(false);
    let (plugins, schemas) =
        plugin_flags::options(&args.plugins, plugins_enabled, Path::new(root), args.offline, first)?;
    let variable = managed::variable;
    Ok(Options {
        compat: compat::of_root(args.compat, root)?,
        plugins: Arc::new(plugins),
        restrictor,
        file_limit: FileLimit(args.file_size_limit),
        build_limit: args.build_size_limit,
        order,
        managed_by_label: managed_by_flag || variable("KUSTOMIZE_ENABLE_MANAGEDBY_LABEL").is_some_and(|v| v == "on"),
        remote: RemoteOptions {
            // Without the network a cache that cannot be written to is as good.
            cache: args.remote_cache.clone().or_else(if args.offline { cache::of_user } else { cache::writable }),
            offline: args.offline,
            timeout: args.remote_timeout,
            size_limit: args.remote_size_limit,
            lock: if args.locked { Some(Arc::new(lock(root)?)) } else { None },
            secrets: Secrets(managed::secret),
        },
        children: signals::children().clone(),
        trace: false,
        clock: None,
        observer: args.observer.clone(),
        lint: args.lint || args.strict,
        used_entries: UsedEntries::default(),
        lint_also: args.lint_also.clone(),
        schemas,
        crd_merge_keys: args.crd_merge_keys,
        helm: HelmOptions {
            enabled: args.enable_helm.unwrap_or(false) || plugins_enabled,
            command: args.helm_command.clone(),
            api_versions: args.helm_api_versions.clone(),
            kube_version: args.helm_kube_version.clone(),
            debug: args.helm_debug.unwrap_or(false),
            limits: plugin_flags::limits(&args.plugins),
            user_config: args.helm_user_config,
            variable,
        },
    })
}

/// The lock beside the kustomization of a root.
fn lock(root: &str) -> Result<Lock> {
    if RepoSpec::parse(root).is_some() || is_artifact(root) {
        bail!("--locked needs a directory of this machine: the lock of '{root}' would not be yours");
    }
    Ok(Lock::read(Path::new(root), root)?)
}

fn say_once(first: bool, warning: &str) {
    if first {
        super::writer::say(warning);
    }
}

/// The first file of a name in the directories of `PATH`.
pub fn in_path(name: impl AsRef<Path>) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|path| path.join(&name)).find(|path| path.is_file())
}
