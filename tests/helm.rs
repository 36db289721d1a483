//! Helm charts, with a stand-in for helm that records how it was called; and with the real one
//! where it is.

use crate::support::servers::{Files, Reply, serve, sha256};
use crate::support::{Tree, is_under_wine};
use base64::Engine;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Prints its arguments and the values it was given as a ConfigMap; `pull` makes a chart.
const HELM: &str = r##"#!/bin/bash
echo "$*" | sed -E 's#[^ ]*/kustomize-helm-[0-9]+#TMP#g' >> "$CALLS"
case $1 in
version) echo "${HELM_VERSION:-v3.14.1+gabc}";;
pull)
  [ -n "$HELM_FAIL" ] && { mkdir -p "$4/app"; echo "no such chart" >&2; exit 1; }
  if [ -n "$HELM_LINK" ]; then ln -s / "$4/app"; else mkdir -p "$4/app"; echo "pulled: true" > "$4/app/values.yaml"; fi;;
template)
  [ -n "$HELM_SLEEP" ] && exec sleep 600
  echo "apiVersion: v1"; echo "kind: ConfigMap"; echo "metadata: {name: $2}"; echo "data:"; echo "  values: |"
  while [ $# -gt 0 ]; do [ "$1" = -f ] && sed 's/^/    /' "$2"; shift; done
  printf -- '---\napiVersion: v1\nkind: Service\nmetadata: {name: fixed, namespace: own}\n';;
esac
"##;

const CHART: &str = "-- charts/app/values.yaml --\n# of the chart\na: 1\nlist: [x]\nnested: {b: 2, c: 3}\n";

/// A tree with the stand-in, and what `build` is called with to use it.
fn tree(txtar: &str) -> Tree {
    let mut tree = Tree::new(txtar);
    tree.write("../home/helm", HELM);
    tree.variables.insert("CALLS", tree.home().join("calls").to_string_lossy().into_owned());
    tree
}

fn build(tree: &Tree, args: &[&str]) -> crate::support::Run {
    let helm = tree.home().join("helm").to_string_lossy().into_owned();
    let run = tree.run(&[&["build", "--enable-helm", "--helm-command", &helm], args].concat());
    tree.assert_nothing_left();
    run
}

fn calls(tree: &Tree) -> String {
    let calls = std::fs::read_to_string(tree.home().join("calls")).unwrap();
    calls.replace(&*tree.path().to_string_lossy(), "TREE")
}

#[test]
fn a_local_chart_is_templated_with_its_values() {
    let tree = tree(&format!(
        "{CHART}-- kustomization.yaml --\nnamespace: shop\nhelmCharts: [{{name: app, releaseName: r}}]\n"
    ));
    let out = build(&tree, &[]).ok();
    assert!(out.contains("# of the chart"), "values are passed as they are: {out}");
    assert!(out.contains("metadata:\n  name: r\n"), "the namespace field leaves what helm made alone: {out}");
    assert!(out.contains("namespace: own"));
    let template = "template r TREE/charts/app --namespace shop -f TMP/app-kustomize-values.yaml\n";
    assert_eq!(calls(&tree), format!("version --short\n{template}"));
}

#[test]
fn every_field_has_its_argument() {
    let tree = tree(&format!(
        "{CHART}-- more.yaml --\nm: 1\n-- kustomization.yaml --
helmCharts:
- {{name: app, releaseName: r, namespace: ns, nameTemplate: t, additionalValuesFiles: [more.yaml], includeCRDs: true,
   skipHooks: true, skipTests: true, apiVersions: [a/v1, b/v1], kubeVersion: '1.29', debug: true, devel: true}}
"
    ));
    build(&tree, &["--helm-kube-version", "1.2"]).ok();
    let want = "template r TREE/charts/app --namespace ns --name-template t -f TMP/app-kustomize-values.yaml -f TREE/more.yaml \
                --api-versions a/v1 --api-versions b/v1 --kube-version 1.29 --include-crds --skip-tests --no-hooks --debug --devel\n";
    assert!(calls(&tree).ends_with(want), "{}", calls(&tree));
}

#[test]
fn inline_values_go_over_under_or_in_place_of_the_file() {
    let check = |merge: &str, want: &str| {
        let tree = tree(&format!(
            "{CHART}-- kustomization.yaml --\nhelmCharts:\n- name: app\n  releaseName: r\n  valuesMerge: {merge}\n  valuesInline: {{a: 9, list: [z], nested: {{b: null, d: yes}}}}\n"
        ));
        let out = build(&tree, &[]).ok();
        assert!(out.contains(want), "{merge}: {out}");
    };
    check("override", "    a: 9\n    list:\n    - z\n    nested:\n      c: 3\n      d: true\n");
    check("merge", "    a: 1\n    list:\n    - x\n    nested:\n      b: 2\n      c: 3\n      d: true\n");
    check("replace", "    a: 9\n    list:\n    - z\n    nested:\n      b: null\n      d: true\n");
}

#[test]
fn values_of_different_shapes_are_not_merged() {
    let with = |fields: &str, values: &str| {
        tree(&format!(
            "-- charts/app/values.yaml --\n{values}-- kustomization.yaml --\nhelmCharts:\n- name: app\n  releaseName: r\n{fields}"
        ))
    };
    let over = with("  valuesInline: {key: {secret: my-secret}}\n", "key:\n  secret: {token: ''}\n");
    build(&over, &[]).fails_with(&[
        "wrong node kind: a string cannot override a mapping",
        "key.secret",
        "kustomization.yaml:4",
        "values of chart 'app'",
        "'valuesMerge: replace' passes",
    ]);
    // What the hint says works.
    let replaced = with("  valuesMerge: replace\n  valuesInline: {key: my-secret}\n", "key: {token: ''}\n");
    assert!(build(&replaced, &[]).ok().contains("key: my-secret"));
    let alias = with("  valuesMerge: merge\n  valuesInline: {k: 1}\n", "x: &x 1\nk: *x\n");
    build(&alias, &[]).fails_with(&["an alias cannot override", "values.yaml:2:1"]);
    let unknown = with("  valuesInline: {k: {$patch: other}}\n", "k: {a: 1}\n");
    build(&unknown, &[]).fails_with(&["unknown patch strategy 'other'", "kustomization.yaml:4"]);
}

#[test]
fn a_values_file_without_a_document_has_no_values() {
    for file in ["", "# nothing\n", "\n"] {
        for merge in ["override", "merge"] {
            let tree = tree(&format!(
                "-- charts/app/values.yaml --\n{file}-- kustomization.yaml --\nhelmCharts: [{{name: app, releaseName: r, valuesMerge: {merge}, valuesInline: {{a: 1}}}}]\n"
            ));
            assert!(build(&tree, &[]).ok().contains("  values: |\n    a: 1\n"), "{file:?} {merge}");
        }
    }
}

/// A stand-in for helm that waits until another one runs: charts that run one after the other fail.
const TOGETHER: &str = r##"#!/bin/sh
case $1 in
version) echo v3.14.1;;
template)
  echo "$2" >> "$CALLS"
  touch "$CALLS.$2"
  case $2 in r3) ;; *)
    n=0
    while [ ! -e "$CALLS.r1" ] || [ ! -e "$CALLS.r2" ]; do
      n=$((n + 1)); [ $n -gt 3000 ] && { echo "alone" >&2; exit 1; }
      sleep 0.01
    done;;
  esac
  [ "$2" = "$BAD" ] && { echo "bad $2" >&2; exit 1; }
  [ "$2" = "$ALSO_BAD" ] && { echo "bad $2" >&2; exit 1; }
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n' "$2";;
esac
"##;

/// Three charts, the last one a configuration object.
const THREE: &str = "sortOptions: {order: fifo}
helmCharts: [{name: app, releaseName: r1}, {name: app, releaseName: r2}]
generators: [object.yaml]
-- object.yaml --
{apiVersion: builtin, kind: HelmChartInflationGenerator, metadata: {name: x}, name: app, releaseName: r3}
";

#[test]
fn charts_of_a_kustomization_are_rendered_side_by_side_and_come_in_their_order() {
    if std::thread::available_parallelism().is_ok_and(|n| n.get() < 2) {
        return crate::support::skip("there is one processor");
    }
    let with = |more: &str| {
        let tree = tree(&format!("{CHART}-- kustomization.yaml --\n{more}{THREE}"));
        tree.write("../home/helm", TOGETHER);
        tree
    };
    let good = with("");
    let names = ["name: r1", "name: r2", "name: r3"].map(|name| format!("metadata:\n  {name}\n"));
    let out = build(&good, &[]).ok();
    let places = names.map(|name| out.find(&name).unwrap());
    assert!(places.is_sorted(), "{out}");
    // The first error in the order of the charts is the error, whichever comes first.
    let mut bad = with("");
    bad.variables.insert("BAD", "r2".to_owned());
    bad.variables.insert("ALSO_BAD", "r3".to_owned());
    let said = build(&bad, &[]).fails_with(&["bad r2", "kustomization.yaml:2"]);
    assert!(!said.contains("bad r3"), "{said}");
    // After a fault before them, no chart is rendered.
    let broken = with("configMapGenerator: [{name: x, files: [missing]}]\n");
    build(&broken, &[]).fails_with(&["missing"]);
    assert!(!broken.home().join("calls").exists());
    // A chart that cannot be made ready: those before it win.
    let mut missing = with("");
    missing.write(
        "object.yaml",
        "{apiVersion: builtin, kind: HelmChartInflationGenerator, metadata: {name: x}, name: other}\n",
    );
    build(&missing, &[]).fails_with(&["no chart found"]);
    missing.variables.insert("BAD", "r2".to_owned());
    let said = build(&missing, &[]).fails_with(&["bad r2"]);
    assert!(!said.contains("no chart found"), "{said}");
}

#[test]
fn limits_hold_for_each_chart_of_several() {
    let mut slow = tree(&format!("{CHART}-- kustomization.yaml --\n{THREE}"));
    slow.variables.insert("HELM_SLEEP", "1".to_owned());
    build(&slow, &["--plugin-timeout", "300ms"]).fails_with(&["took longer than 0.3 s", "kustomization.yaml:2"]);
    let loud = tree(&format!("{CHART}-- kustomization.yaml --\n{THREE}"));
    build(&loud, &["--plugin-output-limit", "20"]).fails_with(&["printed more than 20 bytes", "kustomization.yaml:2"]);
}

#[test]
fn the_version_of_helm_is_asked_for_once_a_process() {
    let chart = "helmCharts: [{name: app, releaseName: NAME, valuesInline: {a: 1}}]\nnamePrefix: NAME-\n";
    let of = |name: &str| format!("-- {name}/kustomization.yaml --\n{}", chart.replace("NAME", name));
    let charts = ["one", "two"].map(|name| CHART.replace("charts/", &format!("{name}/charts/")));
    let tree = tree(&format!(
        "{}{}{}{}-- kustomization.yaml --\nresources: [one, two]\n",
        charts[0],
        charts[1],
        of("one"),
        of("two")
    ));
    build(&tree, &[]).ok();
    let calls = calls(&tree);
    let first: Vec<&str> = calls.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(first, ["version", "template", "template"], "{calls}");
}

#[test]
fn a_missing_chart_is_pulled_once() {
    let charts = "-- kustomization.yaml --\nhelmCharts: [{name: app, releaseName: r, repo: 'https://charts.example.com', version: 1.2.3}]\n";
    let tree = tree(charts);
    build(&tree, &[]).ok();
    build(&tree, &[]).ok();
    let pulls: Vec<String> = calls(&tree).lines().filter(|l| l.starts_with("pull")).map(str::to_owned).collect();
    let want = "pull --untar --untardir TREE/charts/app-1.2.3 --repo https://charts.example.com app --version 1.2.3";
    assert_eq!(pulls, [want]);
}

#[test]
fn builds_that_run_side_by_side_share_a_pull() {
    let tree = tree(
        "-- kustomization.yaml --\nhelmCharts: [{name: app, releaseName: r, repo: 'oci://charts.example.com/x/', version: '1'}]\n",
    );
    let helm = tree.home().join("helm").to_string_lossy().into_owned();
    let mut running = Vec::new();
    for _ in 0..6 {
        let mut command = tree.command(&["build", "--enable-helm", "--helm-command", &helm]);
        running.push(command.stdout(std::process::Stdio::piped()).spawn().unwrap());
    }
    let outputs: Vec<Vec<u8>> = running.into_iter().map(|child| child.wait_with_output().unwrap().stdout).collect();
    assert!(String::from_utf8_lossy(&outputs[0]).contains("pulled: true"));
    assert!(outputs.iter().all(|out| *out == outputs[0]));
    assert_eq!(calls(&tree).matches("pull ").count(), 1, "{}", calls(&tree));
    assert!(calls(&tree).contains("oci://charts.example.com/x/app --version 1"));
}

#[test]
fn the_users_repositories_and_logins_are_used_where_the_user_says_so() {
    let charts = "-- kustomization.yaml --\nhelmCharts: [{name: app, releaseName: r, repo: 'https://charts.example.com', version: 1.2.3}]\n";
    let repositories =
        "repositories: [{name: mine, url: 'https://charts.example.com/', username: u, password: hunter2}]\n";
    // Records the variables that helm gets, too.
    let helm = HELM.replace(
        "case $1 in",
        "echo \"$HELM_REGISTRY_CONFIG $HELM_REPOSITORY_CONFIG\" >> \"$CALLS.variables\"\ncase $1 in",
    );
    let check = |flags: &[&str], config: &str, is_used: bool| {
        let tree = tree(&charts.replace("\nhelmCharts", &format!("\n{config}helmCharts")));
        tree.write("../home/helm", &helm);
        tree.write("../home/.config/helm/repositories.yaml", repositories);
        build(&tree, flags).ok();
        let variables = std::fs::read_to_string(tree.home().join("calls.variables")).unwrap();
        let directory = tree.home().join(".config/helm").display().to_string();
        let want = if is_used {
            format!("{directory}/registry/config.json {directory}/repositories.yaml")
        } else {
            " ".into()
        };
        assert!(variables.lines().all(|line| line == want), "{variables}");
        let calls = calls(&tree);
        assert!(!calls.contains("hunter2"));
        let pull = "pull --untar --untardir TREE/charts/app-1.2.3";
        let want = match is_used {
            true => format!("version --short\nrepo update mine\n{pull} mine/app --version 1.2.3\n"),
            false => format!("version --short\n{pull} --repo https://charts.example.com app --version 1.2.3\n"),
        };
        assert!(calls.starts_with(&want), "{calls}");
    };
    check(&["--helm-user-config"], "", true);
    check(&[], "", false);
    // A configuration that the kustomization names is used as kustomize does.
    check(&["--helm-user-config"], "helmGlobals: {configHome: ../home/other}\n", false);
}

#[test]
fn variables_of_helm_reach_it_and_a_name_that_looks_like_an_option_does_not() {
    let charts =
        "-- kustomization.yaml --\nhelmCharts: [{name: app, releaseName: r, repo: 'https://charts.example.com'}]\n";
    let mut tree = tree(charts);
    tree.variables.insert("HELM_REPOSITORY_CONFIG", tree.home().join("named.yaml").display().to_string());
    for (name, url) in [
        ("--post-renderer=x", "https://charts.example.com"),
        ("../x", "https://charts.example.com"),
        ("oci:x", "https://charts.example.com"),
        // A login of another repository, on the same host.
        ("mine", "https://charts.example.com/private"),
    ] {
        tree.write("../home/named.yaml", &format!("repositories: [{{name: '{name}', url: '{url}'}}]\n"));
        build(&tree, &["--helm-user-config"]).ok();
        assert!(calls(&tree).contains("--repo https://charts.example.com app"), "{name}: {}", calls(&tree));
        assert!(!calls(&tree).contains(name), "{name}: {}", calls(&tree));
        std::fs::remove_dir_all(tree.path().join("charts")).unwrap();
        std::fs::remove_file(tree.home().join("calls")).unwrap();
    }
}

/// True if helm is in PATH; otherwise the test says so.
pub fn is_helm_there() -> bool {
    let is_there = crate::support::in_path("helm").is_some();
    if !is_there {
        crate::support::skip("helm is not in PATH");
    }
    is_there
}

/// A packaged chart, as `helm package` makes it.
fn packaged() -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, content) in [
        ("app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 0.1.0\n"),
        ("app/values.yaml", "greeting: hello\n"),
        (
            "app/templates/cm.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\ndata: {greeting: '{{ .Values.greeting }}'}\n",
        ),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        builder.append_data(&mut header, name, content.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

/// Serves a repository with the chart `app` to a user alone.
pub fn private_charts() -> String {
    let files = Files::default();
    let server = private(&files);
    let chart = packaged();
    let digest = sha256(&chart);
    files.put("/app-0.1.0.tgz", chart);
    files.put(
        "/index.yaml",
        format!(
            "apiVersion: v1\nentries: {{app: [{{apiVersion: v2, name: app, version: 0.1.0, digest: {digest}, urls: ['http://{server}/app-0.1.0.tgz']}}]}}\n"
        ),
    );
    server
}

/// Gives helm's own configuration in the home the user of such a repository.
pub fn log_in(tree: &Tree, server: &str) {
    let place = if is_under_wine() { "AppData/Roaming" } else { ".config" };
    tree.write(
        &format!("../home/{place}/helm/repositories.yaml"),
        &format!("apiVersion: ''\ngenerated: '2024-01-01T00:00:00Z'\nrepositories: [{{name: mine, url: 'http://{server}', username: u, password: hunter2}}]\n"),
    );
}

/// Serves files to a user alone, as a repository of charts and as a registry.
fn private(files: &Files) -> String {
    let files = files.clone();
    serve(move |request| match request.headers.get("authorization").map(String::as_str) {
        Some("Basic dTpodW50ZXIy") => files.get(&request.path),
        _ => {
            Reply("401 Unauthorized", vec![("WWW-Authenticate".to_owned(), "Basic realm=\"x\"".to_owned())], Vec::new())
        }
    })
}

#[test]
fn the_real_helm_pulls_from_a_private_repository_with_the_users_login() {
    if !is_helm_there() {
        return;
    }
    let server = private_charts();
    let kustomization =
        format!("helmCharts: [{{name: app, releaseName: r, version: 0.1.0, repo: 'http://{server}'}}]\n");
    let tree = Tree::new(&format!("-- kustomization.yaml --\n{kustomization}"));
    log_in(&tree, &server);
    tree.run(&["build", "--enable-helm"]).fails_with(&["401"]);
    let built = tree.run(&["build", "--enable-helm", "--helm-user-config"]).ok();
    assert!(built.contains("greeting: hello"), "{built}");
    std::fs::remove_dir_all(tree.path().join("charts")).unwrap();
    assert_eq!(tree.run(&["build", "--enable-helm", "--offline"]).ok(), built);
    tree.assert_nothing_left();
    assert!(!tree.home().join(".cache/helm").exists(), "helm's own cache is a temporary one");
}

#[test]
fn the_real_helm_pulls_from_a_private_registry_with_the_users_login() {
    if !is_helm_there() {
        return;
    }
    let files = Files::default();
    let (chart, config) = (packaged(), br#"{"name": "app", "version": "0.1.0", "apiVersion": "v2"}"#.to_vec());
    let descriptor = |media_type: &str, content: &[u8]| {
        let digest = format!("sha256:{}", sha256(content));
        files.put(&format!("/v2/charts/app/blobs/{digest}"), content.to_vec());
        format!(r#"{{"mediaType": "{media_type}", "digest": "{digest}", "size": {}}}"#, content.len())
    };
    let manifest = format!(
        r#"{{"schemaVersion": 2, "config": {}, "layers": [{}]}}"#,
        descriptor("application/vnd.cncf.helm.config.v1+json", &config),
        descriptor("application/vnd.cncf.helm.chart.content.v1.tar+gzip", &chart)
    );
    let digest = sha256(manifest.as_bytes());
    for name in ["0.1.0".to_owned(), format!("sha256:{digest}")] {
        files.put(&format!("/v2/charts/app/manifests/{name}"), manifest.clone());
    }
    let registry = files.clone();
    let server_of_manifests = serve(move |request| {
        let is_user = request.headers.get("authorization").is_some_and(|given| given == "Basic dTpodW50ZXIy");
        if !is_user {
            let wants = ("WWW-Authenticate".to_owned(), "Basic realm=\"x\"".to_owned());
            return Reply("401 Unauthorized", vec![wants], Vec::new());
        }
        let Reply(status, mut headers, body) = registry.get(&request.path);
        if request.path.contains("/manifests/") {
            headers.push(("Content-Type".to_owned(), "application/vnd.oci.image.manifest.v1+json".to_owned()));
            headers.push(("Docker-Content-Digest".to_owned(), format!("sha256:{}", sha256(&body))));
        }
        match request.method.as_str() {
            "HEAD" => {
                headers.push(("Content-Length".to_owned(), body.len().to_string()));
                Reply(status, headers, Vec::new())
            }
            _ => Reply(status, headers, body),
        }
    });
    let kustomization = format!(
        "helmCharts: [{{name: app, releaseName: r, version: 0.1.0, repo: 'oci://{server_of_manifests}/charts'}}]\n"
    );
    let tree = Tree::new(&format!("-- kustomization.yaml --\n{kustomization}"));
    let login = base64::engine::general_purpose::STANDARD.encode("u:hunter2");
    tree.write(
        "../home/.config/helm/registry/config.json",
        &format!(r#"{{"auths": {{"{server_of_manifests}": {{"auth": "{login}"}}}}}}"#),
    );
    let refused = tree.run(&["build", "--enable-helm"]);
    assert_eq!(refused.status, Some(1), "{}", refused.stdout);
    let built = tree.run(&["build", "--enable-helm", "--helm-user-config"]).ok();
    assert!(built.contains("greeting: hello"), "{built}");
}

#[test]
fn faults_of_charts() {
    let with = |fields: &str| tree(&format!("{CHART}-- kustomization.yaml --\nhelmCharts: [{{{fields}}}]\n"));
    let good = with("name: app, releaseName: r");
    good.run(&["build"]).fails_with(&["must specify --enable-helm", "kustomization.yaml:1:14"]);
    good.run(&["build", "--enable-helm", "--helm-command", "no-such-helm"])
        .fails_with(&["no-such-helm", "install helm"]);
    build(&with("releaseName: r"), &[]).fails_with(&["chart name cannot be empty"]);
    build(&with("name: ../app"), &[]).fails_with(&["may not lead out"]);
    build(&with("name: app, valuesMerge: both"), &[]).fails_with(&["valuesMerge must be one of"]);
    build(&with("name: app, additionalValuesFiles: [x.yaml]"), &[])
        .fails_with(&["could not load additionalValuesFile"]);
    build(&with("name: other"), &[]).fails_with(&["no repo specified for pull, no chart found"]);
    let outside = with("name: app, valuesFile: ../x.yaml");
    build(&outside, &[]).fails_with(&["no such file", "values of chart 'app'"]);
    outside.write("../x.yaml", "");
    build(&outside, &[]).fails_with(&["security", "values of chart 'app'"]);
    let mut old = with("name: app, releaseName: r");
    old.variables.insert("HELM_VERSION", "v2.16.1".to_owned());
    build(&old, &[]).fails_with(&["requires helm V3 or V4 but got v2.16.1"]);
    let mut slow = with("name: app, releaseName: r");
    slow.variables.insert("HELM_SLEEP", "1".to_owned());
    build(&slow, &["--plugin-timeout", "300ms"]).fails_with(&["took longer than 0.3 s"]);
    let mut failing = with("name: app, version: '1', repo: 'https://charts.example.com'");
    failing.variables.insert("HELM_FAIL", "1".to_owned());
    build(&failing, &[]).fails_with(&["unable to run", "no such chart"]);
    assert!(!failing.path().join("charts/app-1").exists(), "half a chart would be taken for a whole one");
    let mut escaping = with("name: app, version: '1', repo: 'https://charts.example.com'");
    escaping.variables.insert("HELM_LINK", "1".to_owned());
    build(&escaping, &[]).fails_with(&["leads out of the chart home"]);
}

#[test]
fn the_real_helm_gets_the_values_of_kustomize() {
    if !is_helm_there() {
        return;
    }
    // What the templates print: `k`, all values but those of the subchart, and a value of it.
    const CHART: &str = "-- charts/buoy/Chart.yaml --
apiVersion: v2
name: buoy
version: 1.0.0
-- charts/buoy/templates/cm.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: '{{ .Release.Name }}'}
data:
  k: {{ .Values.k | default \"gone\" | toJson | quote }}
  all: {{ toJson (omit .Values \"db\" \"global\") | quote }}
-- charts/buoy/charts/db/Chart.yaml --
apiVersion: v2
name: db
version: 1.0.0
-- charts/buoy/charts/db/values.yaml --
limits: large
-- charts/buoy/charts/db/templates/cm.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: '{{ .Release.Name }}-db'}
data:
  limits: {{ .Values.limits | default \"none\" | quote }}
";
    let check = |own: &str, file: &str, fields: &str, want: &[&str]| {
        let tree = Tree::new(&format!(
            "{CHART}-- charts/buoy/values.yaml --\n{own}-- v.yaml --\n{file}-- kustomization.yaml --\nhelmCharts: [{{name: buoy, releaseName: red, {fields}}}]\n"
        ));
        let out = tree.run(&["build", "--enable-helm"]).ok();
        want.iter().for_each(|want| assert!(out.contains(want), "'{want}' is not in {out}"));
    };
    let own = "k: default\n";
    let inline = "valuesInline: {a: 1}";
    check(own, "k:\n", &format!("valuesFile: v.yaml, {inline}"), &[r#"k: '"default"'"#, r#"{"a":1,"k":"default"}"#]);
    check(own, "k: null\n", &format!("valuesFile: v.yaml, {inline}"), &[r#"k: '"gone"'"#]);
    check(own, "k: null\n", &format!("valuesFile: v.yaml, valuesMerge: merge, {inline}"), &[r#"k: '"default"'"#]);
    check(own, "", "valuesInline: {db: {limits: null}}", &["limits: large"]);
    check(own, "", "valuesMerge: replace, valuesInline: {db: {limits: null}}", &["limits: none"]);
    check(own, "x: &x 1\nk: *x\n", &format!("valuesFile: v.yaml, {inline}"), &[r#"{"a":1,"k":"default","x":1}"#]);
    check("# nothing\n", "", inline, &[r#"{"a":1}"#]);
    check("---\n", "", "valuesInline: {a: {b: 1}}", &[r#"{"a":{"b":1}}"#]);
    check("m: {x: 1}\n", "", "valuesInline: {m: {$patch: replace, z: 1}}", &[r#""m":{"x":1,"z":1}"#]);
}

#[test]
fn the_real_helm_makes_a_chart() {
    let tree = Tree::new(
        "-- charts/app/Chart.yaml --\napiVersion: v2\nname: app\nversion: 0.1.0\n-- charts/app/values.yaml --\ngreeting: hello\n-- charts/app/templates/cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\ndata: {greeting: '{{ .Values.greeting }}'}\n-- kustomization.yaml --\nhelmCharts: [{name: app, releaseName: r, valuesInline: {greeting: hi}}]\n",
    );
    if !is_helm_there() {
        return;
    }
    assert!(tree.run(&["build", "--enable-helm"]).ok().contains("greeting: hi"));
}
