//! [`BuildRequest`]: a build as flags, environment and settings ask for it. All are resolved before
//! anything runs.

use crate::flags::build::BuildFlags;
use crate::flags::compat::Versions;
use crate::flags::files::{FileFlags, Restriction};
use crate::flags::output::{OutputFlags, Reorder};
use crate::flags::plugins::PluginFlags;
use crate::flags::roots::RootFlags;
use crate::flags::schemas::SchemaFlags;
use crate::flags::switch::is_on;
use crate::flags::word::Word;
use crate::plugin_options::PluginPlace;
use crate::variable::variable;
use crate::{cache, host, kustomize_version, plugin_options};
use anyhow::{Context, Result, bail};
use rustomize_base::observe::Observer;
use rustomize_base::parallel;
use rustomize_engine::check::Known;
use rustomize_engine::diag::{Code, Error};
use rustomize_engine::load::artifact_reference::is_artifact;
use rustomize_engine::load::{FileLimit, RepoSpec, Restrictor};
use rustomize_engine::resource::Order;
use rustomize_engine::stage::{HelmOptions, Options, UsedEntries};
use rustomize_engine::workspace::{Together, Workspace};
use rustomize_manager::share::synced::Syncing;
use rustomize_sources::reach;
use rustomize_sources::{HelmProgram, Lock, RemoteOptions, RemoteParts, Secrets};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What builds that are repeated know of earlier ones.
#[derive(Default)]
pub(super) struct Repeated {
    /// The entries that have had an effect so far.
    pub used_entries: UsedEntries,
    /// The files that the last build of each root has read; without roots that were not built.
    files: Mutex<BTreeMap<String, Vec<PathBuf>>>,
}

impl Repeated {
    /// Notes the files that the build of a root has read.
    pub(super) fn note(&self, root: &str, files: Vec<PathBuf>) {
        self.files().insert(root.to_owned(), files);
    }

    /// The files of each root.
    pub(super) fn files(&self) -> MutexGuard<'_, BTreeMap<String, Vec<PathBuf>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A build, or the builds of several roots.
pub(super) struct BuildRequest {
    /// The directories with the roots; empty for the working directory.
    pub directories: Vec<String>,
    pub roots: RootFlags,
    /// The file or directory for the result, and the form of the result.
    pub output: OutputFlags,
    /// The file that stdin replaces.
    pub stdin_as: Option<PathBuf>,
    pub file_limit: FileLimit,
    /// The schemas for the check of resources; `None` without the check.
    pub known: Option<Known>,
    /// For a command that builds again and again. Each build frees its memory then.
    pub repeated: Option<Repeated>,
    /// The options that all roots share.
    shared: Options,
    /// Where they get remote parts.
    remote: RemoteOptions,
    compat: Option<Versions>,
    plugins: PluginFlags,
    /// True if plugins run.
    runs_plugins: bool,
    /// True if each root must match its kustomization.lock.
    is_locked: bool,
    /// True until the environment of plugins was synced, which a command does once.
    may_sync: AtomicBool,
}

impl BuildRequest {
    /// Resolves flags. `observer` notes the work of the builds.
    ///
    /// # Errors
    /// A flag has a value that kustomize refuses.
    pub(super) fn new(flags: BuildFlags, observer: Observer) -> Result<BuildRequest> {
        let BuildFlags { directory, output, files, roots, watch: _, enable_alpha_plugins, plugins, helm, remote } =
            flags;
        // kustomize takes an empty path for stdout.
        let place = output.output.filter(|path| !path.as_os_str().is_empty());
        let output = OutputFlags { output: place, ..output };
        let runs_plugins = is_on(enable_alpha_plugins);
        let managed_by = || variable("KUSTOMIZE_ENABLE_MANAGEDBY_LABEL").is_some_and(|value| value == "on");
        let FileFlags { stdin_as, load_restrictor, file_size_limit, build_size_limit, crd_merge_keys } = files;
        let is_locked = remote.locked;
        let remote = RemoteOptions {
            // Without the network a cache that cannot be written to is as good.
            cache: remote.remote_cache.or_else(if remote.offline { cache::of_user } else { cache::writable }),
            offline: remote.offline,
            timeout: remote.remote_timeout,
            size_limit: remote.remote_size_limit,
            lock: None,
            secrets: Secrets(Some(host::host())),
            children: host::children().clone(),
        };
        let program = HelmProgram {
            children: host::children().clone(),
            limits: plugin_options::limits(&plugins),
            user_config: helm.helm_user_config,
            host: host::host(),
        };
        let shared = Options {
            plugins: Arc::new(plugin_options::disabled()),
            restrictor: restrictor(&load_restrictor)?,
            file_limit: FileLimit(file_size_limit),
            build_limit: build_size_limit,
            order: order(&output.reorder)?,
            managed_by_label: is_on(output.enable_managedby_label) || managed_by(),
            remote: Arc::new(remote.clone()),
            observer,
            lint: output.strict,
            crd_merge_keys,
            helm: HelmOptions {
                enabled: is_on(helm.enable_helm) || runs_plugins,
                command: helm.helm_command,
                api_versions: helm.helm_api_versions,
                kube_version: helm.helm_kube_version,
                debug: is_on(helm.helm_debug),
                program: Arc::new(program),
            },
            ..Options::default()
        };
        Ok(BuildRequest {
            directories: directory,
            roots,
            stdin_as,
            file_limit: FileLimit(file_size_limit),
            known: None,
            repeated: None,
            shared,
            remote,
            compat: output.compat,
            output,
            plugins,
            runs_plugins,
            is_locked,
            may_sync: AtomicBool::new(true),
        })
    }

    /// Asks for the findings of lint, and for the findings of `also`, which are off by default.
    pub(super) fn with_findings(mut self, also: Vec<Code>) -> BuildRequest {
        (self.shared.lint, self.shared.lint_also) = (true, also);
        self
    }

    /// Asks for a check of the resources against schemas, if the flags do.
    ///
    /// # Errors
    /// The version of Kubernetes is unknown.
    pub(super) fn with_schemas(mut self, flags: &SchemaFlags) -> Result<BuildRequest> {
        if flags.are_asked() {
            self.known = Some(Known::new(flags.kubernetes_version())?);
        }
        Ok(self)
    }

    /// The options for the build of a root.
    ///
    /// # Errors
    /// The settings or the lock of the root cannot be read, or the environment cannot be synced.
    pub(super) fn options(&self, root: &str) -> Result<Options> {
        let mut options = Options { used_entries: UsedEntries::default(), ..self.shared.clone() };
        if self.runs_plugins {
            let may_sync = self.may_sync.swap(false, Ordering::Relaxed);
            let syncing = if may_sync { Syncing::Syncs } else { Syncing::UsesLastSync };
            let place = PluginPlace { directory: Path::new(root), offline: self.remote.offline, syncing };
            let found = plugin_options::of_directory(&self.plugins, place)?;
            (options.plugins, options.schemas) = (Arc::new(found.plugins), found.schemas);
        }
        options.compat = kustomize_version::of_root(self.compat, root)?;
        if self.is_locked {
            options.remote = Arc::new(RemoteOptions { lock: Some(Arc::new(lock(root)?)), ..self.remote.clone() });
        }
        Ok(options)
    }

    /// As [`BuildRequest::options`]; and the remote parts, which the build shares with whoever asks
    /// for the used ones afterwards.
    ///
    /// # Errors
    /// As [`BuildRequest::options`].
    pub(super) fn options_and_remote_parts(&self, root: &str) -> Result<(Options, Arc<RemoteParts>)> {
        let options = self.options(root)?;
        let parts = Arc::new(RemoteParts::new(self.remote.clone(), options.observer.clone()));
        Ok((Options { remote: parts.clone(), ..options }, parts))
    }

    /// The options for the builds of several roots.
    ///
    /// # Errors
    /// As [`BuildRequest::options`], with the root.
    pub(super) fn options_of(&self, roots: &[String]) -> Result<Vec<Options>> {
        roots.iter().map(|root| self.options(root).with_context(|| format!("in {root}"))).collect()
    }

    /// A workspace for one root.
    pub(super) fn workspace(&self) -> Workspace {
        self.roots.jobs.map_or_else(Workspace::new, Workspace::with_jobs)
    }

    /// Returns true if builds run no program that reads files by itself, and read no lock.
    pub(super) fn reads_files_alone(&self) -> bool {
        !self.runs_plugins && !self.shared.helm.enabled && !self.is_locked
    }

    /// The number of threads that work at once.
    pub(super) fn jobs(&self) -> NonZero<usize> {
        self.roots.jobs.unwrap_or_else(parallel::cores)
    }

    /// The way in which several roots are built.
    pub(super) fn together(&self) -> Together {
        Together { jobs: self.jobs(), keep_going: self.roots.keep_going }
    }
}

/// The options of loading in the working directory, as for a build whose only flag is `--compat`.
///
/// # Errors
/// As [`kustomize_version::of_root`].
pub(super) fn plain_options(version: Option<Versions>) -> Result<Options> {
    let children = host::children().clone();
    let remote = Arc::new(RemoteOptions {
        cache: cache::writable(),
        offline: reach::is_limited(),
        children,
        ..RemoteOptions::default()
    });
    let compat = kustomize_version::of_root(version, ".")?;
    Ok(Options { compat, remote, ..Options::default() })
}

/// The warnings of deprecated flags, one for each time that a flag is given.
pub(super) fn deprecated(flags: &BuildFlags) -> Vec<&'static str> {
    let reorder = "Flag --reorder has been deprecated, use the new 'sortOptions' field in kustomization.yaml instead.";
    let managed_by =
        "Flag --enable-managedby-label has been deprecated, use 'buildMetadata' in kustomization.yaml instead.";
    let reorders = flags.output.reorder.iter().map(|_| reorder);
    reorders.chain(flags.output.enable_managedby_label.map(|_| managed_by)).collect()
}

/// The restrictor for kustomize's word.
fn restrictor(word: &Word<Restriction>) -> Result<Restrictor> {
    match word {
        Word::Known(Restriction::RootOnly) => Ok(Restrictor::RootOnly),
        Word::Known(Restriction::None) => Ok(Restrictor::None),
        Word::Other(word) if word.is_empty() => Ok(Restrictor::RootOnly),
        Word::Other(word) => bail!(
            "illegal flag value --load-restrictor {word}; legal values: [LoadRestrictionsRootOnly LoadRestrictionsNone]"
        ),
    }
}

/// The order for the last of several words.
fn order(words: &[Word<Reorder>]) -> Result<Option<Order>> {
    let mut order = None;
    for word in words {
        order = Some(match word {
            Word::Known(Reorder::Legacy) => Order::Legacy,
            Word::Known(Reorder::None) => Order::Fifo,
            Word::Other(word) => {
                let message = format!("illegal flag value --reorder {word}; legal values: [legacy none]");
                return Err(Error::new(Code::Usage, message).hint("write --reorder legacy or --reorder none").into());
            }
        });
    }
    Ok(order)
}

/// The lock beside the kustomization of a root.
fn lock(root: &str) -> Result<Lock> {
    if RepoSpec::parse(root).is_some() || is_artifact(root) {
        bail!("--locked needs a directory of this machine: the lock of '{root}' would not be yours");
    }
    Ok(Lock::read(Path::new(root), root)?)
}
