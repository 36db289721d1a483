//! helm for Windows, which `.ci/helm windows` builds, under wine.

use super::{is_windows, processes_with, z};
use crate::helm::{log_in, private_charts};
use crate::support::{Tree, in_path, program, run, skip};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A chart with everything that this system might spell in its own way: files in directories, line
/// ends, values that are given to helm as files.
const CHART: &str = r#"-- charts/buoy/Chart.yaml --
apiVersion: v2
name: buoy
version: 1.0.0
-- charts/buoy/values.yaml --
size: small
text: "one\ntwo"
-- charts/buoy/crds/buoys.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: buoys.ex.io}
-- charts/buoy/templates/map.yaml --
{{- range $name := list "red" "green" }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: '{{ $.Release.Name }}-{{ $name }}'}
data:
  values: {{ toJson $.Values | quote }}
  file: {{ $.Files.Get "files/note.txt" | quote }}
{{- end }}
-- charts/buoy/templates/NOTES.txt --
Thank you.
-- charts/buoy/files/note.txt --
a note
-- more.yaml --
more: [1, 2]
-- kustomization.yaml --
namePrefix: sea-
helmCharts:
- name: buoy
  releaseName: r
  namespace: shop
  includeCRDs: true
  valuesInline: {size: large}
  additionalValuesFiles: [more.yaml]
"#;

/// What kustomize makes of the chart.
const MADE: &str = r#"apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: buoys.ex.io
---
apiVersion: v1
data:
  file: |
    a note
  values: '{"more":[1,2],"size":"large","text":"one\ntwo"}'
kind: ConfigMap
metadata:
  name: sea-r-green
---
apiVersion: v1
data:
  file: |
    a note
  values: '{"more":[1,2],"size":"large","text":"one\ntwo"}'
kind: ConfigMap
metadata:
  name: sea-r-red
"#;

/// A tree with helm in PATH, in a directory whose name has a blank. `None` without helm.
#[track_caller]
fn tree_with_helm(txtar: &str) -> Option<Tree> {
    if !is_windows() {
        return None;
    }
    let helm = Path::new(program()).with_file_name("helm.exe");
    if !helm.is_file() {
        skip("no helm for Windows");
        return None;
    }
    let mut tree = Tree::new(txtar);
    let place = tree.home().join("two words");
    std::fs::create_dir(&place).unwrap();
    symlink(helm, place.join("helm.exe")).unwrap();
    tree.variables.insert("UNDER_WINE_PATH", format!(r#"C:\windows\system32;"{}""#, z(&place)));
    Some(tree)
}

#[test]
fn a_chart_has_the_bytes_of_other_systems() {
    let Some(tree) = tree_with_helm(CHART) else { return };
    assert_eq!(tree.run(&["build", "--enable-helm"]).ok(), MADE);
    tree.assert_nothing_left();
    if in_path("helm").is_some() {
        #[expect(clippy::disallowed_methods, reason = "the command for this machine is compared")]
        let mut here = Command::new(env!("CARGO_BIN_EXE_rustomize"));
        here.args(["build", "--enable-helm"]).current_dir(tree.path()).env("HOME", tree.home());
        assert_eq!(run(&mut here).ok(), MADE);
    }
    // The message of helm says which file of the chart is wrong.
    tree.write("charts/buoy/templates/map.yaml", "{{ fail \"no buoys today\" }}\n");
    tree.run(&["build", "--enable-helm"]).fails_with(&["no buoys today", "buoy/templates/map.yaml"]);
    tree.assert_nothing_left();
}

#[test]
fn a_chart_is_pulled_with_the_login_of_the_user() {
    let Some(tree) = tree_with_helm("") else { return };
    let server = private_charts();
    let chart = format!("helmCharts: [{{name: app, releaseName: r, version: 0.1.0, repo: 'http://{server}'}}]\n");
    tree.write("kustomization.yaml", &chart);
    log_in(&tree, &server);
    tree.run(&["build", "--enable-helm"]).fails_with(&["401"]);
    assert!(!tree.path().join("charts").exists(), "a chart that was not pulled has left something");
    let built = tree.run(&["build", "--enable-helm", "--helm-user-config"]).ok();
    assert!(built.contains("greeting: hello"), "{built}");
    assert_eq!(tree.run(&["build", "--enable-helm", "--offline"]).ok(), built);
    tree.assert_nothing_left();
    assert!(tree.path().join("charts/app-0.1.0/app/Chart.yaml").is_file());
}

#[test]
fn a_helm_that_hangs_is_ended() {
    // A server that never answers: nobody takes the connection.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = silent.local_addr().unwrap();
    let chart = format!("helmCharts: [{{name: app, releaseName: r, version: 0.1.0, repo: 'http://{server}'}}]\n");
    let Some(tree) = tree_with_helm(&format!("-- kustomization.yaml --\n{chart}")) else { return };
    let said = tree.run(&["build", "--enable-helm", "--plugin-timeout", "10s"]);
    said.fails_with(&["took longer than 10 s"]);
    tree.assert_nothing_left();
    assert!(!tree.path().join("charts").exists(), "half a chart would be taken for a whole one");
    let own = tree.home().to_string_lossy().replace('/', "\\");
    while processes_with(&own) > 0 {
        std::thread::sleep(Duration::from_millis(20));
    }
}
