//! What a kustomization says about helm charts.

use super::decode::{Decode, Decoder};
use crate::diag::Result;
use crate::yaml::{Mapping, Node, Pos, Value, json};

/// `helmGlobals`.
#[derive(Clone, Debug, Default)]
pub struct HelmGlobals<'a> {
    /// The directory that charts are in, or are put into; `charts` if it is empty.
    pub chart_home: &'a str,
    /// The directory of helm's own configuration; a temporary one if it is empty.
    pub config_home: &'a str,
}

impl<'a> Decode<'a> for HelmGlobals<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        cx.object(node, &mut [("chartHome", &mut self.chart_home), ("configHome", &mut self.config_home)])?;
        Ok(())
    }
}

/// An entry of `helmCharts`.
#[derive(Clone, Debug, Default)]
pub struct HelmChart<'a> {
    /// The name of the chart: its directory below the chart home.
    pub name: &'a str,
    /// The version to pull.
    pub version: &'a str,
    /// Where to pull the chart from if it is not there: a URL, `oci://` included.
    pub repo: &'a str,
    /// helm makes a name up if it is empty.
    pub release_name: &'a str,
    /// Passed to helm; empty for the kustomization's own.
    pub namespace: &'a str,
    /// A template for the release name.
    pub name_template: &'a str,
    /// The chart's own `values.yaml` if it is empty.
    pub values_file: &'a str,
    /// More values files, later ones win.
    pub additional_values_files: Vec<&'a str>,
    /// Values written here.
    pub values_inline: Option<Node<'a>>,
    /// How inline values and the file meet: `override` (inline wins), `merge` (the file wins),
    /// `replace` (inline alone).
    pub values_merge: &'a str,
    /// Also prints the CustomResourceDefinitions of the chart.
    pub include_crds: bool,
    /// Leaves hooks out.
    pub skip_hooks: bool,
    /// Leaves tests out.
    pub skip_tests: bool,
    /// API versions that the chart is told of.
    pub api_versions: Vec<&'a str>,
    /// The Kubernetes version that the chart is told of.
    pub kube_version: &'a str,
    /// Lets helm talk on stderr.
    pub debug: Option<bool>,
    /// Also takes development versions.
    pub devel: bool,
    pub pos: Pos,
}

impl<'a> HelmChart<'a> {
    /// The fields, by their names.
    pub fn fields(&mut self) -> [(&'static str, &mut dyn Decode<'a>); 17] {
        [
            ("name", &mut self.name),
            ("version", &mut self.version),
            ("repo", &mut self.repo),
            ("releaseName", &mut self.release_name),
            ("namespace", &mut self.namespace),
            ("nameTemplate", &mut self.name_template),
            ("valuesFile", &mut self.values_file),
            ("additionalValuesFiles", &mut self.additional_values_files),
            ("valuesInline", &mut self.values_inline),
            ("valuesMerge", &mut self.values_merge),
            ("includeCRDs", &mut self.include_crds),
            ("skipHooks", &mut self.skip_hooks),
            ("skipTests", &mut self.skip_tests),
            ("apiVersions", &mut self.api_versions),
            ("kubeVersion", &mut self.kube_version),
            ("debug", &mut self.debug),
            ("devel", &mut self.devel),
        ]
    }
}

impl<'a> Decode<'a> for HelmChart<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.pos = node.pos;
        cx.object(node, &mut self.fields())?;
        if let (Some(values), true) = (&mut self.values_inline, cx.strict) {
            json::from_yaml_1_1(cx.arena, values);
        }
        Ok(())
    }
}

/// An entry of the deprecated `helmChartInflationGenerator`. What helm charts have no field for is
/// accepted and dropped.
#[derive(Clone, Debug, Default)]
pub struct HelmChartArgs<'a> {
    chart: HelmChart<'a>,
    chart_home: &'a str,
    helm_home: &'a str,
}

impl<'a> Decode<'a> for HelmChartArgs<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        let chart = &mut self.chart;
        chart.pos = node.pos;
        let mut values = Node::null();
        let [mut repo_name, mut helm_bin, mut release_namespace] = [""; 3];
        let mut extra_args: Vec<&'a str> = Vec::new();
        cx.object(
            node,
            &mut [
                ("chartName", &mut chart.name),
                ("chartVersion", &mut chart.version),
                ("chartRepoUrl", &mut chart.repo),
                ("chartRepoName", &mut repo_name),
                ("chartHome", &mut self.chart_home),
                ("helmHome", &mut self.helm_home),
                ("helmBin", &mut helm_bin),
                ("values", &mut chart.values_file),
                ("valuesLocal", &mut values),
                ("valuesMerge", &mut chart.values_merge),
                ("releaseName", &mut chart.release_name),
                ("releaseNamespace", &mut release_namespace),
                ("extraArgs", &mut extra_args),
            ],
        )?;
        json::from_yaml_1_1(cx.arena, &mut values);
        chart.values_inline = Some(values).filter(|v| !v.is_null());
        Ok(())
    }
}

/// Turns entries of the deprecated field into charts, and their directories into globals if there
/// are none.
pub fn upgrade<'a>(
    old: Vec<HelmChartArgs<'a>>,
    charts: &mut Vec<HelmChart<'a>>,
    globals: &mut Option<HelmGlobals<'a>>,
) {
    let mut homes = HelmGlobals::default();
    for entry in old {
        if !entry.chart_home.is_empty() {
            homes.chart_home = entry.chart_home;
        }
        if !entry.helm_home.is_empty() {
            homes.config_home = entry.helm_home;
        }
        charts.push(entry.chart);
    }
    if globals.is_none() && !(homes.chart_home.is_empty() && homes.config_home.is_empty()) {
        *globals = Some(homes);
    }
}

/// How a chart's values come about: the file's, with the inline ones over or under them.
pub fn merge_values<'a>(under: &mut Mapping<'a>, over: &Mapping<'a>, null_deletes: bool) {
    for entry in over.iter() {
        if null_deletes && entry.value.is_null() {
            under.remove(entry.key.text);
            continue;
        }
        match (under.get_mut(entry.key.text).map(|n| &mut n.value), &entry.value.value) {
            (Some(Value::Mapping(below)), Value::Mapping(above)) => merge_values(below, above, null_deletes),
            _ => drop(under.insert(entry.key, entry.value.clone())),
        }
    }
}
