//! [`ChartRun`]: one chart: where it is, its values, and the arguments of helm.

use super::HelmProgram;
use super::command::HelmCommand;
use super::run::{Environment, Run};
use super::user;
use crate::diag::{Code, Error, Result, Warning, nearest};
use crate::limit::ReadFile;
use crate::links;
use rustomize_base::observe::Work;
use rustomize_engine::generator::helm_values::merged;
use rustomize_engine::load::remote::ChartName;
use rustomize_engine::load::{FileLimit, Restrictor, join};
use rustomize_engine::stage::{Build, ChartEntry};
use rustomize_process::PrivateDirectory;
use rustomize_yaml::{Arena, Node, Source, first_document};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The variables that name helm's place for temporary files.
const TEMPORARY: &[&str] = if cfg!(windows) { &["TEMP", "TMP"] } else { &["TMPDIR"] };

/// A chart that this runner makes ready.
pub(super) struct ChartRun<'c, 'a> {
    helm: &'c HelmProgram,
    entry: &'c ChartEntry<'a>,
}

/// A chart that is on this machine, with the values that helm gets.
pub(super) struct ReadyChart {
    /// The directory of the chart.
    pub directory: PathBuf,
    /// True if the chart was pulled now.
    pub is_pulled: bool,
    /// The command that renders it.
    pub command: HelmCommand,
    pub environment: Environment,
    /// The directory of the values file and of helm's own files.
    pub _private: PrivateDirectory,
}

impl<'c, 'a> ChartRun<'c, 'a> {
    /// One chart, and the program that renders it.
    pub(super) fn new(helm: &'c HelmProgram, entry: &'c ChartEntry<'a>) -> Self {
        ChartRun { helm, entry }
    }

    /// Returns true if helm's configuration is in the tree that is built. Plugins of helm in it
    /// would run commands.
    fn is_of_the_tree(&self, config: &Path) -> bool {
        let Some(real) = links::real(config).filter(|_| config.is_absolute()) else { return true };
        let here = std::path::absolute(".").and_then(dunce::canonicalize);
        real.starts_with(&self.entry.root.real) || here.map_or(true, |here| real.starts_with(here))
    }

    /// The variables of helm, whose own files are in `temporary` unless the chart names a place.
    fn environment(&self, temporary: &Path) -> Environment {
        let config = match self.entry.globals.config_home {
            "" => temporary.join("helm"),
            home => home.into(),
        };
        // helm would write to the configuration of a clone, which the cache has as it was fetched.
        let written = if self.entry.root.remote().is_some() { temporary.join("helm") } else { config.clone() };
        let is_user = self.helm.user_config && self.entry.globals.config_home.is_empty();
        // A helm that is ended leaves its own temporary files, and on Windows each helm does.
        let mut environment: Environment = TEMPORARY.iter().map(|name| ((*name).into(), temporary.into())).collect();
        environment.extend([
            ("HELM_CONFIG_HOME".into(), config.clone().into()),
            ("HELM_CACHE_HOME".into(), written.join(".cache").into()),
            ("HELM_DATA_HOME".into(), config.join(".data").into()),
        ]);
        if is_user {
            environment.extend(user::environment(&*self.helm.host));
        }
        if self.helm.host.set_variable("HELM_PLUGINS").is_none() && self.is_of_the_tree(&config) {
            environment.push(("HELM_PLUGINS".into(), temporary.join("no-plugins").into()));
        }
        environment
    }

    fn run(&self, build: &Build<'a>, command: HelmCommand, temporary: &Path) -> Result<Vec<u8>> {
        Run::new(self.helm, &build.cx.options.helm).run(command, &self.environment(temporary), self.entry.chart.pos)
    }

    /// Makes the chart ready: pulls it if it is missing, and writes its values.
    ///
    /// # Errors
    /// helm has a wrong version, the chart cannot be pulled, or its values cannot be read or
    /// merged.
    pub(super) fn ready(&self, build: &mut Build<'a>) -> Result<ReadyChart> {
        let no_file = |e: std::io::Error| Error::io(&e, format!("no temporary directory for helm: {e}"));
        let private = self.helm.children.directory("rustomize-helm-").map_err(no_file)?;
        // The name is upstream's, because it occurs in the arguments of helm.
        let temporary = private.path().join("kustomize-helm-1");
        std::fs::create_dir(&temporary).map_err(no_file)?;
        let environment = self.environment(&temporary);
        let is_old = !build.arena.compat().asks_helm_4_for_its_version();
        let version = HelmCommand::new("version").switch("-c", is_old).flag("--short");
        let home = self.entry.home();
        let present = self.present(build, &home);
        let is_pulled = matches!(present, Ok(None));
        Run::new(self.helm, &build.cx.options.helm).check_version(
            version,
            is_pulled,
            &environment,
            self.entry.chart.pos,
        )?;
        let directory = match present? {
            Some(directory) => directory,
            None => self.pulled(build, &home, &temporary)?,
        };
        self.check_links(build, &directory)?;
        if !is_pulled {
            let (arena, limit) = (build.arena, build.cx.options.file_limit);
            build.find(|| self.other_version(arena, limit, &directory));
        }
        let file_name = self.entry.chart.name.replace('/', "-");
        let values = temporary.join(format!("{file_name}-kustomize-values.yaml"));
        std::fs::write(&values, self.values(build, &directory, &home)?).map_err(no_file)?;
        let command = self.template(build, &directory, &values);
        Ok(ReadyChart { directory, is_pulled, command, environment, _private: private })
    }

    /// The finding about a chart that is there in another version than the entry names.
    fn other_version(&self, arena: Arena<'a>, limit: FileLimit, directory: &Path) -> Option<Warning> {
        let chart = &self.entry.chart;
        let file = directory.join("Chart.yaml");
        let source = arena.add_source(file.display().to_string(), limit.read_to_string(&file).ok()?);
        let node = first_document(arena, source).ok()??;
        let there = node.get("version")?.scalar_text();
        let number = |version: &str| version.trim_start_matches('v').split('+').next().unwrap_or_default().to_owned();
        let is_one = |version: &str| {
            let parts: Vec<&str> = version.splitn(3, '.').collect();
            parts.len() == 3 && parts.iter().all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
        };
        let (wanted, found) = (number(chart.version), number(there));
        if !is_one(&wanted) || wanted.contains([' ', ',', '|', '*']) || found.is_empty() || wanted == found {
            return None;
        }
        let message = format!(
            "the chart '{}' that is there has the version {there}, not {}: kustomize takes it as it is",
            chart.name, chart.version
        );
        let hint = match chart.repo {
            "" => format!(
                "put the chart of version {} into '{}', or correct 'version'",
                chart.version,
                directory.display()
            ),
            _ => format!("remove '{}': then the chart is pulled", directory.display()),
        };
        Some(Warning::new(Code::ChartVersion, message).at(chart.pos).hint(hint))
    }

    /// The name of the chart in caches and locks.
    fn name(&self) -> ChartName<'_> {
        let chart = &self.entry.chart;
        ChartName { repo: chart.repo, name: chart.name, version: chart.version, devel: chart.devel }
    }

    /// The directory of the chart if it need not be pulled; `None` if it must be pulled.
    pub(super) fn present(&self, build: &Build<'a>, home: &Path) -> Result<Option<PathBuf>> {
        let directory = home.join(self.entry.chart.name);
        if self.entry.chart.repo.is_empty() {
            if directory.is_dir() {
                return Ok(Some(directory));
            }
            let message = format!("no repo specified for pull, no chart found at '{}'", directory.display());
            let entries = std::fs::read_dir(home).into_iter().flatten().flatten();
            let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
            let hint = match nearest(self.entry.chart.name, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean '{near}'?"),
                None => "add 'repo' with the address of its repository, or put the chart there".to_owned(),
            };
            return Err(Error::new(Code::MissingFile, message).at(self.entry.chart.pos).hint(hint));
        }
        // Another build may be pulling a chart that is in the chart home.
        let _lock = directory.is_dir().then(|| rustomize_files::lock(home, || {}));
        build.cx.files.remote_parts().chart(self.name(), &directory).map_err(|e| e.at(self.entry.chart.pos))
    }

    /// The directory of a chart that is missing, and is pulled.
    fn pulled(&self, build: &Build<'a>, home: &Path, temporary: &Path) -> Result<PathBuf> {
        let _noted = build.cx.options.observer.begin(Work::Fetch, || format!("chart {}", self.entry.chart.name));
        let parts = build.cx.files.remote_parts();
        let at = |e: Error| e.at(self.entry.chart.pos);
        if self.entry.root.remote().is_some() {
            // The clone or artifact may be in the cache, which has it as it was fetched.
            let home = temporary.join("charts");
            self.pull(build, &home, temporary)?;
            return parts.take_chart(self.name(), &home.join(self.entry.chart.name)).map_err(at);
        }
        self.pull(build, home, temporary)?;
        let directory = home.join(self.entry.chart.name);
        let kept = parts.keep_chart(self.name(), &directory);
        if kept.is_err() {
            let _ = std::fs::remove_dir_all(&directory);
        }
        kept.map_err(at).map(|()| directory)
    }

    /// Pulls the chart if it is missing. Builds that run side by side wait for each other.
    fn pull(&self, build: &Build<'a>, home: &Path, temporary: &Path) -> Result<()> {
        let chart = &self.entry.chart;
        let directory = home.join(chart.name);
        let no_home =
            |e: std::io::Error| Error::io(&e, format!("the chart home '{}' cannot be made: {e}", home.display()));
        let new: Vec<&Path> = home.ancestors().take_while(|above| !above.exists()).collect();
        std::fs::create_dir_all(home).map_err(no_home)?;
        // Another build may be pulling a chart that is in the chart home.
        let _lock = rustomize_files::lock(home, || {});
        if directory.is_dir() {
            return Ok(());
        }
        let command = HelmCommand::new("pull").flag("--untar").option("--untardir", &home.to_string_lossy());
        let of_user = match self.helm.user_config && self.entry.globals.config_home.is_empty() {
            true => user::repository(build, &*self.helm.host, chart.repo),
            false => None,
        };
        let command = match (chart.repo.starts_with("oci://"), of_user) {
            (true, _) => command.word(format!("{}/{}", chart.repo.strip_suffix('/').unwrap_or(chart.repo), chart.name)),
            (false, Some(name)) => {
                // With '--repo', helm would ask for the list of charts without the user's
                // credentials.
                self.run(build, HelmCommand::new("repo").word("update").word(name.as_str()), temporary)?;
                command.word(format!("{name}/{}", chart.name))
            }
            (false, None) => command.option("--repo", chart.repo).word(chart.name),
        };
        let command = command.option("--version", chart.version).switch("--devel", chart.devel);
        let pulled = self.run(build, command, temporary).and_then(|_| self.check_place(home, &directory));
        if pulled.is_err() {
            // An incomplete chart would be used as a complete one the next time.
            let _ = std::fs::remove_dir_all(&directory);
            for directory in new {
                let _ = std::fs::remove_dir(directory);
            }
        }
        pulled
    }

    /// Checks that a pulled chart is in its home, and not in a place that a link leads to.
    fn check_place(&self, home: &Path, directory: &Path) -> Result<()> {
        let fault = |message: String| Error::new(Code::HelmFailed, message);
        let real = |path: &Path| dunce::canonicalize(path).ok();
        match (real(home), real(directory)) {
            (Some(home), Some(directory)) if directory.starts_with(&home) && directory.is_dir() => Ok(()),
            (_, None) => Err(fault(format!(
                "helm pulled '{}', and '{}' is not there",
                self.entry.chart.name,
                directory.display()
            ))),
            _ => Err(fault(format!("the chart '{}' leads out of the chart home", self.entry.chart.name))),
        }
    }

    /// Refuses a chart with a link that leads out of the kustomization's root, or out of the chart
    /// if that is not in the root: helm follows links, and a template prints any file of the chart.
    /// O(entries of the chart).
    fn check_links(&self, build: &Build<'a>, chart: &Path) -> Result<()> {
        let root = &self.entry.root;
        if root.remote().is_some() && links::hold(root, chart).is_ok() {
            return Ok(());
        }
        if root.remote().is_none() && build.cx.options.restrictor == Restrictor::None {
            return Ok(());
        }
        let directory = match chart.starts_with(&root.real) {
            true => root.real.to_path_buf(),
            false => links::real(chart).unwrap_or_else(|| chart.to_owned()),
        };
        if links::stays_in(&directory, chart) {
            return Ok(());
        }
        let message =
            format!("security; chart '{}' has a link that leads out of '{}'", chart.display(), directory.display());
        let error = Error::new(Code::OutsideRoot, message).at(self.entry.chart.pos);
        Err(error.hint("put the files themselves there, or allow it with --load-restrictor LoadRestrictionsNone"))
    }

    /// The values file, if it is in a chart outside of the chart home: in the cache, or beside the
    /// lock.
    fn values_of_kept(&self, chart: &Path, home: &Path) -> Option<PathBuf> {
        let in_home = home.join(self.entry.chart.name);
        if chart == in_home {
            return None;
        }
        match self.entry.chart.values_file {
            "" => Some(chart.join("values.yaml")),
            path => {
                let named = PathBuf::from(join(&self.entry.root.real.to_string_lossy(), path));
                Some(chart.join(named.strip_prefix(in_home).ok()?))
            }
        }
    }

    /// A values file, or the file of the chart, which need not be in the tree.
    fn values_file(&self, build: &Build<'a>, chart: &Path, home: &Path) -> Result<&'a Source> {
        if let Some(own) = self.values_of_kept(chart, home) {
            let text = build.cx.options.file_limit.read_to_string(&own);
            let text = text.map_err(|e| Error::io(&e, format!("'{}' cannot be read: {e}", own.display())))?;
            return Ok(build.arena.add_source(own.display().to_string(), text));
        }
        let path = self.values_path(chart);
        build.cx.files.text(&self.entry.root, &path).map_err(|e| self.unread_values(e.into(), &path))
    }

    /// The path of the values file that the entry names, or else of that of the chart.
    fn values_path(&self, chart: &Path) -> Cow<'a, str> {
        match self.entry.chart.values_file {
            "" => chart.join("values.yaml").to_string_lossy().into_owned().into(),
            named => named.into(),
        }
    }

    /// The error about a values file. kustomize needs the file of a chart, and helm does not.
    fn unread_values(&self, error: Error, path: &str) -> Error {
        if !self.entry.chart.values_file.is_empty() || error.code() != Code::MissingFile {
            return error;
        }
        let error = Error::new(Code::MissingFile, format!("'{path}': no such file or directory"));
        error.hint("kustomize needs the 'values.yaml' of the chart: add one, which may be empty")
    }

    /// The values that helm gets in place of the chart's values.
    fn values(&self, build: &mut Build<'a>, chart: &Path, home: &Path) -> Result<Vec<u8>> {
        let in_values = |e: Error| e.context(format!("reading the values of chart '{}'", self.entry.chart.name));
        let inline = self.entry.chart.values_inline.as_ref().and_then(Node::as_mapping).filter(|m| !m.is_empty());
        let Some(inline) = inline else {
            if let Some(own) = self.values_of_kept(chart, home) {
                let read = build.cx.options.file_limit.read(&own);
                let fault = |e| Error::io(&e, format!("'{}' cannot be read: {e}", own.display()));
                return read.map_err(|e| in_values(fault(e)));
            }
            let path = self.values_path(chart);
            let read = build.cx.files.bytes(&self.entry.root, &path);
            return read.map_err(|e| in_values(self.unread_values(e.into(), &path)));
        };
        let schemas = build.schema.for_merging().map_err(in_values)?;
        let file = || self.values_file(build, chart, home);
        merged(build.arena, &self.entry.chart, inline, &schemas, file).map(String::into_bytes).map_err(in_values)
    }

    fn template(&self, build: &Build<'a>, chart: &Path, values: &Path) -> HelmCommand {
        let c = &self.entry.chart;
        let mut command = HelmCommand::new("template")
            .word(if c.release_name.is_empty() { "--generate-name" } else { c.release_name })
            .word(chart)
            .option("--namespace", self.entry.namespace)
            .option("--name-template", c.name_template)
            .path("-f", &values.to_string_lossy());
        for path in &c.additional_values_files {
            command = command.path("-f", &join(&self.entry.root.real.to_string_lossy(), path));
        }
        let known = &build.helm_api_versions;
        let versions: Vec<&str> =
            if c.api_versions.is_empty() { known.iter().map(|v| &**v).collect() } else { c.api_versions.clone() };
        for version in versions {
            command = command.option("--api-versions", version);
        }
        let kube_version = if c.kube_version.is_empty() { &build.cx.options.helm.kube_version } else { c.kube_version };
        command
            .option("--kube-version", kube_version)
            .switch("--include-crds", c.include_crds)
            .switch("--skip-tests", c.skip_tests)
            .switch("--no-hooks", c.skip_hooks)
            .switch("--debug", self.entry.debug)
            .switch("--devel", c.devel)
    }
}
