//! HelmChartInflationGenerator: makes the resources of a helm chart, by running helm.
//!
//! *Fields*: `helmCharts`, `helmGlobals`, `helmChartInflationGenerator`.
//! *Kinds*: `HelmChartInflationGenerator`, with the fields of an entry and of `helmGlobals`.
//! *Entry*: `HelmChart`, `HelmGlobals`.
//! *Reads*: the chart's directory, which is pulled from `repo` if it is missing and `repo` is
//! given; values files. It runs only with `--enable-helm`. A build that is offline, or held to a
//! lock, uses a chart of the cache or the copy beside the lock.
//! *Order*: after SecretGenerator, before `generators`; all charts are checked before the first one
//! runs. Charts of one kustomization are rendered side by side.
//! *Cost*: one run of helm a chart, two if it is pulled, and one for each process.
//! *Quirks*: `namespace` skips resources that helm made, because the chart has a namespace of its
//! own. `valuesInline` is merged with the values file as a strategic merge patch is, before the
//! values are decoded. A pulled chart appears in its place in one step, so that builds side by side
//! share it. If a pull of upstream fails halfway, its incomplete chart stays.
//! *Example*: `testdata/reference/helm_chart.txtar`

use super::helm_charts::Charts;
use crate::config::helm::{HelmChart, HelmGlobals};
use crate::diag::{Code, Error, Result};
use crate::load::{Root, path};
use crate::resource::Resource;
use crate::stage::{Build, ChartEntry, Generator, Object, scoped_resources_in};
use rustomize_yaml::Malformed;
use std::rc::Rc;

/// One chart of a kustomization.
pub struct HelmChartInflationGenerator<'a> {
    entry: Rc<ChartEntry<'a>>,
    charts: Charts<'a>,
    /// The number of the chart among those of its kustomization.
    number: usize,
}

/// A chart that is asked for.
pub struct ChartRequest<'r, 'a> {
    /// The root whose kustomization asks for it.
    pub root: &'r Root,
    pub chart: HelmChart<'a>,
    pub globals: HelmGlobals<'a>,
    pub asked_by: AskedBy<'a>,
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

/// The hint for an object with the fields that charts had in kustomize v3.
const CURRENT_FIELDS: &str = "'chartName' is now 'name', 'chartVersion' 'version', 'chartRepoUrl' 'repo', \
    'values' 'valuesFile' and 'releaseNamespace' 'namespace'";

impl<'a> HelmChartInflationGenerator<'a> {
    /// The generator of a configuration object. Its chart joins those of its kustomization.
    ///
    /// # Errors
    /// As [`HelmChartInflationGenerator::new`], or a field has a wrong type.
    pub fn from_object(object: Object<'_, 'a>, charts: &Charts<'a>) -> Result<Self> {
        let chart = HelmChart { pos: object.pos(), ..object.read()? };
        let has_old_fields = chart.name.is_empty() && object.config.node().get("chartName").is_some();
        let advised = |e: Error| if has_old_fields { e.hint(CURRENT_FIELDS) } else { e };
        let request = ChartRequest { root: object.root, chart, globals: object.read()?, asked_by: AskedBy::Object };
        HelmChartInflationGenerator::new(object.build, request, charts).map_err(advised)
    }

    /// Checks a chart, and adds it to those of its kustomization.
    ///
    /// # Errors
    /// helm is not enabled, the name of the chart is missing or leads elsewhere, an additional
    /// values file cannot be read, or `valuesMerge` is unknown.
    pub fn new(build: &mut Build<'a>, request: ChartRequest<'_, 'a>, charts: &Charts<'a>) -> Result<Self> {
        let ChartRequest { root, mut chart, globals, asked_by } = request;
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
        let is_odd = chart.name.starts_with('/') || path::fault(chart.name).is_some();
        if let Some((field, value)) = option_like(&chart, namespace) {
            let error = fault(&format!("the {field} of a chart may not begin with '-': '{value}'"));
            return Err(error.hint("helm would take it for an option"));
        }
        if is_odd || chart.name.split(['/', path::SEPARATOR]).any(leads_elsewhere) {
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
        let entry = Rc::new(ChartEntry { chart, globals, root: root.clone(), namespace, debug });
        options.program.check(&entry)?;
        let number = charts.add(Rc::clone(&entry));
        Ok(HelmChartInflationGenerator { entry, charts: charts.clone(), number })
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

impl<'a> Generator<'a> for HelmChartInflationGenerator<'a> {
    fn generate(&self, build: &mut Build<'a>) -> Result<Vec<Resource<'a>>> {
        let printed = self.charts.printed(build, self.number)?;
        let fault = |message: String| Error::new(Code::HelmFailed, message);
        let name = format!("the output of helm for chart '{}'", self.entry.chart.name);
        let text = String::from_utf8(printed)
            .map_err(|e| fault(format!("{name} is not valid UTF-8 at byte {}", e.utf8_error().valid_up_to())))?;
        let source = build.arena.add_source(name, text);
        let malformed = |m: Malformed| fault(format!("helm printed no YAML: {}", m.message)).at(m.pos);
        let mut resources = scoped_resources_in(build, source, malformed)
            .map_err(|e| e.context("could not parse what helm printed into resources"))?;
        for resource in &mut resources {
            resource.notes_mut().helm_generated = build.arena.compat().leaves_namespaces_to_charts();
        }
        Ok(resources)
    }

    fn check_fetched(&self, build: &Build<'a>) -> Result<()> {
        build.cx.options.helm.program.check_fetched(build, &self.entry)
    }
}
