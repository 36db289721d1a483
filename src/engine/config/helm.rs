//! The fields of a kustomization about helm charts.

use super::decode::{Decoder, Given};
use super::{Decode, Described};
use crate::diag::Result;
use rustomize_yaml::{Node, Pos, json};

/// `helmGlobals`.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct HelmGlobals<'a> {
    /// The directory of charts, pulled ones included; `charts` if it is empty.
    pub chart_home: &'a str,
    /// The directory of helm's own configuration; a temporary one if it is empty.
    pub config_home: &'a str,
}

/// An entry of `helmCharts`.
#[derive(Clone, Debug, Default, Decode, Described)]
#[record(finish)]
pub struct HelmChart<'a> {
    /// The name of the chart: its directory below the chart home.
    pub name: &'a str,
    /// The version to pull.
    pub version: &'a str,
    /// The place to pull the chart from if it is missing: a URL, `oci://` included.
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
    /// How inline values and the file are combined: `override` (inline wins), `merge` (the file
    /// wins), `replace` (inline alone).
    pub values_merge: &'a str,
    /// Also prints the CustomResourceDefinitions of the chart.
    #[field(name = "includeCRDs")]
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
    #[field(only_if(takes_chart_debug))]
    pub debug: Option<bool>,
    /// Also takes development versions.
    #[field(only_if(takes_chart_devel))]
    pub devel: bool,
    pub pos: Pos,
}

impl<'a> HelmChart<'a> {
    fn finish(&mut self, _: &Given, cx: &Decoder<'a>) -> Result<()> {
        if let (Some(values), true) = (&mut self.values_inline, cx.strict) {
            json::from_yaml_1_1(cx.arena, values);
        }
        Ok(())
    }
}

/// An entry of the deprecated `helmChartInflationGenerator`. Fields that `helmCharts` lacks are
/// accepted and dropped.
#[derive(Clone, Debug, Default, Decode, Described)]
#[record(finish)]
pub struct HelmChartArgs<'a> {
    /// `name` of a chart.
    chart_name: &'a str,
    /// `version` of a chart.
    chart_version: &'a str,
    /// `repo` of a chart.
    chart_repo_url: &'a str,
    /// Accepted without effect.
    chart_repo_name: &'a str,
    /// `chartHome` of the globals.
    chart_home: &'a str,
    /// `configHome` of the globals.
    helm_home: &'a str,
    /// Accepted without effect.
    helm_bin: &'a str,
    /// `valuesFile` of a chart.
    values: &'a str,
    /// `valuesInline` of a chart.
    values_local: Option<Node<'a>>,
    /// `valuesMerge` of a chart.
    values_merge: &'a str,
    /// `releaseName` of a chart.
    release_name: &'a str,
    /// Accepted without effect.
    release_namespace: &'a str,
    /// Accepted without effect.
    extra_args: Vec<&'a str>,
    pos: Pos,
}

impl<'a> HelmChartArgs<'a> {
    fn finish(&mut self, _: &Given, cx: &Decoder<'a>) -> Result<()> {
        if let Some(values) = &mut self.values_local {
            json::from_yaml_1_1(cx.arena, values);
        }
        Ok(())
    }

    fn into_chart(self) -> HelmChart<'a> {
        HelmChart {
            name: self.chart_name,
            version: self.chart_version,
            repo: self.chart_repo_url,
            values_file: self.values,
            values_inline: self.values_local,
            values_merge: self.values_merge,
            release_name: self.release_name,
            pos: self.pos,
            ..HelmChart::default()
        }
    }
}

/// Turns entries of the deprecated field into charts. Their directories become the globals if no
/// globals are given.
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
        charts.push(entry.into_chart());
    }
    if globals.is_none() && !(homes.chart_home.is_empty() && homes.config_home.is_empty()) {
        *globals = Some(homes);
    }
}
