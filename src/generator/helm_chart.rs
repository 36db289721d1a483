//! HelmChartInflationGenerator: makes the resources of a helm chart, by running helm.
//!
//! *Fields*: `helmCharts`, `helmGlobals`, `helmChartInflationGenerator`.
//! *Kinds*: `HelmChartInflationGenerator`, with the fields of an entry and of `helmGlobals`.
//! *Entry*: `HelmChart`, `HelmGlobals`.
//! *Reads*: the chart's directory, which is pulled from `repo` if it is missing and `repo` is
//! given; values files. It runs only with `--enable-helm`. A build that is offline, or held to a
//! lock, uses a chart of the cache or the copy beside the lock.
//! *Order*: after SecretGenerator, before `generators`; all charts are checked before the first one
//! runs.
//! *Cost*: two or three runs of helm a chart.
//! *Quirks*: `namespace` skips resources that helm made, because the chart has a namespace of its
//! own. A pulled chart appears in its place in one step, so that builds side by side share it. If a
//! pull of upstream fails halfway, its incomplete chart stays.
//! *Example*: `testdata/reference/helm_chart.txtar`

use super::helm_command::HelmCommand;
use super::helm_user;
use crate::config::helm::{HelmChart, HelmGlobals, merge_values};
use crate::diag::{Code, Error, Result};
use crate::load::remote::ChartName;
use crate::load::{Restrictor, Root, join, path};
use crate::observe::Work;
use crate::process::{Call, Failed, Failure};
use crate::resource::{Behavior, Resource};
use crate::stage::{Build, Generator, scoped_resources_in};
use crate::yaml::{Malformed, Mapping, Node, Source, emit, first_document, reprint};
use regex::Regex;
use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::LazyLock;

/// One chart, checked and ready to be made.
pub struct HelmChartInflationGenerator<'a> {
    chart: HelmChart<'a>,
    globals: HelmGlobals<'a>,
    root: Root,
    namespace: &'a str,
    debug: bool,
}

/// The source of a chart: a field, or a configuration object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedBy<'a> {
    /// A field. The namespace is that of the kustomization, or of the nearest one above that has
    /// one.
    Field {
        namespace: &'a str,
    },
    Object,
}

impl<'a> HelmChartInflationGenerator<'a> {
    /// Checks a chart.
    ///
    /// # Errors
    /// helm is not enabled, the name of the chart is missing or leads elsewhere, an additional
    /// values file cannot be read, or `valuesMerge` is unknown.
    pub fn new(
        build: &mut Build<'a>,
        root: &Root,
        mut chart: HelmChart<'a>,
        globals: HelmGlobals<'a>,
        asked_by: AskedBy<'a>,
    ) -> Result<Self> {
        let cx = Rc::clone(&build.cx);
        let options = &cx.options.helm;
        let fault = |message: &str| Error::new(Code::BadValue, message).at(chart.pos);
        if !options.enabled {
            return Err(fault("must specify --enable-helm")
                .with_code(Code::NotEnabled)
                .hint("charts run code of theirs; --enable-helm allows it"));
        }
        if options.command.is_empty() {
            return Err(fault("must specify --helm-command").hint("name the program, as in --helm-command helm"));
        }
        let namespace = match asked_by {
            _ if !chart.namespace.is_empty() => chart.namespace,
            AskedBy::Field { namespace } => namespace,
            AskedBy::Object => "",
        };
        if chart.name.is_empty() {
            let error = fault("chart name cannot be empty").with_code(Code::MissingField);
            return Err(error.hint("add 'name' with the name of the chart"));
        }
        let leads_elsewhere = |part: &str| part == ".." || part.contains('\0');
        if let Some((field, value)) = option_like(&chart, namespace) {
            let error = fault(&format!("the {field} of a chart may not begin with '-': '{value}'"));
            return Err(error.hint("helm would take it for an option"));
        }
        if chart.name.starts_with('/') || chart.name.split('/').any(leads_elsewhere) {
            let error = fault("a chart's name may not lead out of the chart home").with_code(Code::OutsideRoot);
            return Err(error.hint("set 'chartHome' under 'helmGlobals' to the directory of the charts"));
        }
        if !chart.repo.is_empty() && chart.version.contains('/') {
            return Err(fault(&format!("the version of a chart may not have a '/': '{}'", chart.version)));
        }
        for path in &chart.additional_values_files {
            let loaded = build.cx.files.bytes(root, path).map_err(Error::from);
            loaded.map_err(|e| e.context("could not load additionalValuesFile"))?;
        }
        if chart.values_merge.is_empty() {
            chart.values_merge = "override";
        }
        if !matches!(chart.values_merge, "merge" | "override" | "replace") {
            return Err(fault("valuesMerge must be one of [merge override replace]"));
        }
        // As upstream, a chart's own API versions overwrite the first of those that all charts
        // share, unless the chart has more of them.
        let shared = &mut build.helm_api_versions;
        if chart.api_versions.len() <= shared.len() {
            shared.iter_mut().zip(&chart.api_versions).for_each(|(into, version)| *into = (*version).to_owned());
        }
        let debug = match asked_by {
            AskedBy::Field { .. } => options.debug || chart.debug == Some(true),
            AskedBy::Object => chart.debug.unwrap_or(options.debug),
        };
        let generator = HelmChartInflationGenerator { chart, globals, root: root.clone(), namespace, debug };
        let at = |e: Error| e.at(generator.chart.pos);
        root.hold(&generator.home().join(generator.chart.name)).map_err(at)?;
        if !generator.globals.config_home.is_empty() {
            let config = std::path::absolute(generator.globals.config_home).unwrap_or_default();
            root.hold(&config).map_err(at)?;
        }
        Ok(generator)
    }

    /// The directory that holds this chart.
    fn home(&self) -> PathBuf {
        let home = if self.globals.chart_home.is_empty() { "charts" } else { self.globals.chart_home };
        let home = join(&self.root.real.to_string_lossy(), home);
        match (self.chart.version, self.chart.repo) {
            ("", _) | (_, "") => home.into(),
            (version, _) => join(&home, &format!("{}-{version}", self.chart.name)).into(),
        }
    }

    /// Returns true if helm's configuration is in the tree that is built. Plugins of helm in it
    /// would run commands.
    fn is_of_the_tree(&self, config: &Path) -> bool {
        let Some(real) = path::real(config).filter(|_| config.is_absolute()) else { return true };
        let here = std::path::absolute(".").and_then(|here| here.canonicalize());
        real.starts_with(&self.root.real) || here.map_or(true, |here| real.starts_with(here))
    }

    fn run(&self, build: &Build<'a>, command: HelmCommand, temporary: &Path) -> Result<Vec<u8>> {
        let config = match self.globals.config_home {
            "" => temporary.join("helm"),
            home => home.into(),
        };
        // helm would write to the configuration of a clone, which the cache has as it was fetched.
        let written = if self.root.remote().is_some() { temporary.join("helm") } else { config.clone() };
        let options = &build.cx.options.helm;
        let is_user = options.user_config && self.globals.config_home.is_empty();
        let args = command.arguments;
        let shown: Vec<String> = args.iter().map(|a| a.to_string_lossy().into_owned()).collect();
        let mut environment: Vec<(Cow<'static, str>, OsString)> = vec![
            ("HELM_CONFIG_HOME".into(), config.clone().into()),
            ("HELM_CACHE_HOME".into(), written.join(".cache").into()),
            ("HELM_DATA_HOME".into(), config.join(".data").into()),
        ];
        if is_user {
            environment.extend(helm_user::environment(options.variable));
        }
        if (options.variable)("HELM_PLUGINS").is_none_or(|place| place.is_empty()) && self.is_of_the_tree(&config) {
            environment.push(("HELM_PLUGINS".into(), temporary.join("no-plugins").into()));
        }
        let call = Call {
            program: Path::new(&options.command),
            args,
            directory: None,
            environment,
            inherits: true,
            without: &[],
            stdin: None,
        };
        build.cx.options.children.run(call, &options.limits).map_err(|failed| self.explain(build, &shown, &failed))
    }

    fn explain(&self, build: &Build<'a>, args: &[String], failed: &Failed) -> Error {
        let command = &build.cx.options.helm.command;
        let what = match &failed.failure {
            Failure::NotStarted(e) => format!("it cannot be started: {e}"),
            Failure::Status(status) | Failure::Ended(status) => status.clone(),
            Failure::TimedOut(t) => format!("it took longer than {} s", t.as_secs_f64()),
            Failure::TooMuchOutput(n) => format!("it printed more than {n} bytes"),
            Failure::Io(e) => format!("talking to it failed: {e}"),
        };
        let mut message = format!("unable to run: '{command} {}': {what}", args.join(" "));
        for line in failed.stderr.trim_end().lines() {
            message.push_str("\n    ");
            message.push_str(line);
        }
        let error = Error::new(Code::HelmFailed, message).at(self.chart.pos);
        match &failed.failure {
            Failure::NotStarted(_) => error.hint(format!("is '{command}' installed? --helm-command names another one")),
            Failure::TimedOut(_) => error.with_code(Code::Timeout).hint("--plugin-timeout sets the limit"),
            Failure::TooMuchOutput(_) => error.hint("--plugin-output-limit sets the limit"),
            _ => error,
        }
    }

    /// Refuses a helm that is neither version 3 nor 4.
    fn check_version(&self, build: &Build<'a>, temporary: &Path) -> Result<()> {
        #[allow(clippy::expect_used, reason = "the pattern is a constant")]
        static VERSION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"v?[0-9]+(\.[0-9]+)+").expect("a pattern"));
        let is_old = !build.arena.compat().asks_helm_4_for_its_version();
        let command = HelmCommand::new("version").switch("-c", is_old).switch("--short", true);
        let printed = self.run(build, command, temporary)?;
        let printed = String::from_utf8_lossy(&printed);
        let fault = |message: String| Error::new(Code::HelmFailed, message);
        let version = VERSION.find(&printed).map(|m| m.as_str());
        let version = version.ok_or_else(|| fault(format!("cannot find version string in '{}'", printed.trim())))?;
        match version.trim_start_matches('v').split('.').next() {
            Some("3" | "4") => Ok(()),
            _ => Err(fault(format!("this plugin requires helm V3 or V4 but got {version}"))),
        }
    }

    /// The name of the chart in caches and locks.
    fn name(&self) -> ChartName<'_> {
        let chart = &self.chart;
        ChartName { repo: chart.repo, name: chart.name, version: chart.version, devel: chart.devel }
    }

    /// The directory of the chart if it need not be pulled; `None` if it must be pulled.
    fn present(&self, build: &Build<'a>, home: &Path) -> Result<Option<PathBuf>> {
        let directory = home.join(self.chart.name);
        if self.chart.repo.is_empty() {
            if directory.is_dir() {
                return Ok(Some(directory));
            }
            let message = format!("no repo specified for pull, no chart found at '{}'", directory.display());
            return Err(Error::new(Code::MissingFile, message).at(self.chart.pos));
        }
        // Another build may be pulling a chart that is in the chart home.
        let _lock = if directory.is_dir() { lock(home).ok().flatten() } else { None };
        build.cx.files.remote_parts().chart(self.name(), &directory).map_err(|e| e.at(self.chart.pos))
    }

    /// The directory of the chart, which is pulled if it is missing.
    fn directory(&self, build: &Build<'a>, home: &Path, temporary: &Path) -> Result<PathBuf> {
        if let Some(present) = self.present(build, home)? {
            return Ok(present);
        }
        let parts = build.cx.files.remote_parts();
        let at = |e: Error| e.at(self.chart.pos);
        if self.root.remote().is_some() {
            // The clone or artifact may be in the cache, which has it as it was fetched.
            let home = temporary.join("charts");
            self.pull(build, &home, temporary)?;
            return parts.take_chart(self.name(), &home.join(self.chart.name)).map_err(at);
        }
        self.pull(build, home, temporary)?;
        let directory = home.join(self.chart.name);
        let kept = parts.keep_chart(self.name(), &directory);
        if kept.is_err() {
            let _ = std::fs::remove_dir_all(&directory);
        }
        kept.map_err(at).map(|()| directory)
    }

    /// Pulls the chart if it is missing. Builds that run side by side wait for each other.
    fn pull(&self, build: &Build<'a>, home: &Path, temporary: &Path) -> Result<()> {
        let chart = &self.chart;
        let directory = home.join(chart.name);
        let no_home =
            |e: std::io::Error| Error::io(&e, format!("the chart home '{}' cannot be made: {e}", home.display()));
        let new: Vec<&Path> = home.ancestors().take_while(|above| !above.exists()).collect();
        std::fs::create_dir_all(home).map_err(no_home)?;
        // Another build may be pulling a chart that is in the chart home.
        let _lock = lock(home).map_err(no_home)?;
        if directory.is_dir() {
            return Ok(());
        }
        let command = HelmCommand::new("pull").switch("--untar", true).option("--untardir", &home.to_string_lossy());
        let of_user = match build.cx.options.helm.user_config && self.globals.config_home.is_empty() {
            true => helm_user::repository(build, chart.repo),
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
        let real = |path: &Path| path.canonicalize().ok();
        match (real(home), real(directory)) {
            (Some(home), Some(directory)) if directory.starts_with(&home) && directory.is_dir() => Ok(()),
            (_, None) => {
                Err(fault(format!("helm pulled '{}', and '{}' is not there", self.chart.name, directory.display())))
            }
            _ => Err(fault(format!("the chart '{}' leads out of the chart home", self.chart.name))),
        }
    }

    /// Refuses a chart with a link that leads out of the kustomization's root, or out of the chart
    /// if that is not in the root: helm follows links, and a template prints any file of the chart.
    /// O(entries of the chart).
    fn check_links(&self, build: &Build<'a>, chart: &Path) -> Result<()> {
        let root = &self.root;
        if root.remote().is_some() && root.hold(chart).is_ok() {
            return Ok(());
        }
        if root.remote().is_none() && build.cx.options.restrictor == Restrictor::None {
            return Ok(());
        }
        let directory = match chart.starts_with(&root.real) {
            true => root.real.to_path_buf(),
            false => path::real(chart).unwrap_or_else(|| chart.to_owned()),
        };
        if path::stays_in(&directory, chart) {
            return Ok(());
        }
        let message =
            format!("security; chart '{}' has a link that leads out of '{}'", chart.display(), directory.display());
        let error = Error::new(Code::OutsideRoot, message).at(self.chart.pos);
        Err(error.hint("put the files themselves there, or allow it with --load-restrictor LoadRestrictionsNone"))
    }

    /// The values file, if it is in a chart outside of the chart home: in the cache, or beside the
    /// lock.
    fn values_of_kept(&self, chart: &Path, home: &Path) -> Option<PathBuf> {
        let in_home = home.join(self.chart.name);
        if chart == in_home {
            return None;
        }
        match self.chart.values_file {
            "" => Some(chart.join("values.yaml")),
            path => {
                let named = PathBuf::from(join(&self.root.real.to_string_lossy(), path));
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
        let default = chart.join("values.yaml").to_string_lossy().into_owned();
        let path = if self.chart.values_file.is_empty() { &default } else { self.chart.values_file };
        build.cx.files.text(&self.root, path).map_err(Error::from)
    }

    /// The values that helm gets in place of the chart's values.
    fn values(&self, build: &Build<'a>, chart: &Path, home: &Path) -> Result<Vec<u8>> {
        let arena = build.arena;
        let in_values = |e: Error| e.context(format!("reading the values of chart '{}'", self.chart.name));
        let inline = self.chart.values_inline.as_ref().and_then(Node::as_mapping).filter(|m| !m.is_empty());
        let Some(inline) = inline else {
            if let Some(own) = self.values_of_kept(chart, home) {
                let read = build.cx.options.file_limit.read(&own);
                let fault = |e| Error::io(&e, format!("'{}' cannot be read: {e}", own.display()));
                return read.map_err(|e| in_values(fault(e)));
            }
            let default = chart.join("values.yaml").to_string_lossy().into_owned();
            let path = if self.chart.values_file.is_empty() { &default } else { self.chart.values_file };
            return build.cx.files.bytes(&self.root, path).map_err(|e| in_values(e.into()));
        };
        let malformed = |m: crate::yaml::Malformed| in_values(m.into());
        let mut inline: Node<'a> = inline.clone().into();
        reprint::through_json(arena, &mut inline).map_err(malformed)?;
        let Ok(inline) = inline.into_mapping() else { return Ok(Vec::new()) };
        let merged = if self.chart.values_merge == "replace" {
            inline
        } else {
            let source = self.values_file(build, chart, home).map_err(in_values)?;
            let file = first_document(arena, source).map_err(malformed)?.unwrap_or_default();
            let file = match file.into_mapping() {
                Ok(m) => m,
                Err(file) if file.is_null() => Mapping::new(),
                Err(file) => {
                    return Err(in_values(Error::new(
                        Code::WrongType,
                        format!("expected a mapping, found {}", file.shape()),
                    )));
                }
            };
            if self.chart.values_merge == "merge" {
                let mut values = inline;
                merge_values(&mut values, &file, false);
                values
            } else {
                let mut values = file;
                merge_values(&mut values, &inline, true);
                values
            }
        };
        let mut node: Node<'a> = merged.into();
        reprint::through_map(arena, &mut node).map_err(malformed)?;
        let mut text = String::new();
        emit::document(&mut text, &node).map_err(|e| in_values(Error::new(Code::NotYaml, e.message)))?;
        Ok(text.into_bytes())
    }

    fn template(&self, build: &Build<'a>, chart: &Path, values: &Path) -> HelmCommand {
        let c = &self.chart;
        let mut command = HelmCommand::new("template")
            .word(if c.release_name.is_empty() { "--generate-name" } else { c.release_name })
            .word(chart)
            .option("--namespace", self.namespace)
            .option("--name-template", c.name_template)
            .path("-f", &values.to_string_lossy());
        for path in &c.additional_values_files {
            command = command.path("-f", &join(&self.root.real.to_string_lossy(), path));
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
            .switch("--debug", self.debug)
            .switch("--devel", c.devel)
    }
}

/// The field of a chart whose value looks like an option, and the value.
fn option_like<'c>(chart: &HelmChart<'c>, namespace: &'c str) -> Option<(&'static str, &'c str)> {
    let fields = [
        ("name", chart.name),
        ("version", chart.version),
        ("repo", chart.repo),
        ("releaseName", chart.release_name),
        ("namespace", namespace),
        ("nameTemplate", chart.name_template),
        ("kubeVersion", chart.kube_version),
    ];
    let versions = chart.api_versions.iter().map(|version| ("apiVersions", *version));
    fields.into_iter().chain(versions).find(|(_, value)| value.starts_with('-'))
}

/// Locks a directory until the handle is dropped; waits while another process has the lock.
#[cfg(unix)]
fn lock(directory: &Path) -> std::io::Result<Option<File>> {
    use rustix::fs::{FlockOperation, Mode, OFlags};
    let handle = rustix::fs::open(directory, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::fs::flock(&handle, FlockOperation::LockExclusive)?;
    Ok(Some(handle.into()))
}

/// Locks nothing: other systems cannot lock directories.
#[cfg(not(unix))]
fn lock(_: &Path) -> std::io::Result<Option<File>> {
    Ok(None)
}

impl<'a> Generator<'a> for HelmChartInflationGenerator<'a> {
    fn generate(&self, build: &mut Build<'a>) -> Result<Vec<Resource<'a>>> {
        let arena = build.arena;
        let noted = build.cx.options.observer.begin(Work::Chart, || self.chart.name.to_owned());
        let no_file = |e: std::io::Error| Error::io(&e, format!("no temporary directory for helm: {e}"));
        let private = build.cx.options.children.directory("rustomize-helm-").map_err(no_file)?;
        // The name is upstream's, because it occurs in the arguments of helm.
        let temporary = private.path().join("kustomize-helm-1");
        std::fs::create_dir(&temporary).map_err(no_file)?;
        self.check_version(build, &temporary)?;
        let home = self.home();
        let chart = self.directory(build, &home, &temporary)?;
        self.check_links(build, &chart)?;
        noted.says(|| format!("{}, by {}", chart.display(), build.cx.options.helm.command));
        let file_name = self.chart.name.replace('/', "-");
        let values = temporary.join(format!("{file_name}-kustomize-values.yaml"));
        std::fs::write(&values, self.values(build, &chart, &home)?).map_err(no_file)?;
        let printed = self.run(build, self.template(build, &chart, &values), &temporary)?;
        let fault = |message: String| Error::new(Code::HelmFailed, message);
        let name = format!("the output of helm for chart '{}'", self.chart.name);
        let text = String::from_utf8(printed)
            .map_err(|e| fault(format!("{name} is not valid UTF-8 at byte {}", e.utf8_error().valid_up_to())))?;
        let source = arena.add_source(name, text);
        let malformed = |m: Malformed| fault(format!("helm printed no YAML: {}", m.message)).at(m.pos);
        let mut resources = scoped_resources_in(build, source, malformed)
            .map_err(|e| e.context("could not parse what helm printed into resources"))?;
        for resource in &mut resources {
            resource.rare_mut().helm_generated = build.arena.compat().leaves_namespaces_to_charts();
            resource.behavior = Some(Behavior::Unspecified);
        }
        Ok(resources)
    }

    fn check_fetched(&self, build: &Build<'a>) -> Result<()> {
        self.present(build, &self.home()).map(drop)
    }
}
