//! Builds that are piped to `kubectl apply` of a real API server: kube-apiserver over etcd, both on
//! the loopback address. Opt-in: `RUSTOMIZE_APISERVER` names the directory with the two programs,
//! which `.ci/apiserver` makes in target/apiserver.

use crate::support::reference::kustomize;
use crate::support::{Run, Tree, files, git, in_path, run, split};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The programs of the server, its data, and what talks to it.
struct Cluster {
    tree: Tree,
    children: Vec<Child>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "what a user types, and the servers of the test")]
fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

/// Ports that nothing listens at.
fn ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

impl Cluster {
    /// Starts the servers, and waits until they are ready.
    fn start(programs: &Path) -> Cluster {
        let tree = Tree::new("");
        let bin = tree.home().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(crate::support::program(), bin.join("rustomize")).unwrap();
        let data = tree.tmp().join("data");
        fs::create_dir(&data).unwrap();
        let [client, peer, secure] = ports();
        let (client, peer) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
        let log = |name: &str| fs::File::create(tree.tmp().join(name)).unwrap();
        let etcd = command(programs.join("etcd"))
            .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
            .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
            .args(["--initial-cluster", &format!("default={peer}"), "--data-dir"])
            .arg(data.join("etcd"))
            .stdout(Stdio::null())
            .stderr(log("etcd.log"))
            .spawn()
            .unwrap();
        let key = data.join("key.pem");
        let made = command("openssl").args(["genrsa", "-out"]).arg(&key).arg("2048").output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        fs::write(data.join("tokens"), "tok,admin,admin,system:masters\n").unwrap();
        let flag = |name: &str, value: &Path| format!("--{name}={}", value.display());
        let server = command(programs.join("kube-apiserver"))
            .args([format!("--etcd-servers={client}"), format!("--secure-port={secure}")])
            .args(["--bind-address=127.0.0.1", "--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24"])
            .args(["--disable-admission-plugins=ServiceAccount", "--service-account-issuer=https://127.0.0.1"])
            .args([flag("cert-dir", &data.join("certificates")), flag("token-auth-file", &data.join("tokens"))])
            .args([flag("service-account-key-file", &key), flag("service-account-signing-key-file", &key)])
            .stdout(Stdio::null())
            .stderr(log("apiserver.log"))
            .spawn()
            .unwrap();
        let config = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
             clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:{secure}', insecure-skip-tls-verify: true}}}}]\n\
             users: [{{name: u, user: {{token: tok}}}}]\n"
        );
        tree.write("../home/.kube/config", &config);
        let mut cluster = Cluster { tree, children: vec![etcd, server] };
        while cluster.shell("kubectl get --raw /readyz", "").status != Some(0) {
            for child in &mut cluster.children {
                if let Some(status) = child.try_wait().unwrap() {
                    let logs =
                        ["etcd.log", "apiserver.log"].map(|log| fs::read_to_string(cluster.tree.tmp().join(log)));
                    panic!("a server has ended with {status}: {logs:?}");
                }
            }
        }
        cluster
    }

    /// A shell in the tree, with the tool, kubectl and their user's settings.
    fn shell(&self, script: &str, stdin: &str) -> Run {
        let mut shell = command("bash");
        shell.args(["-o", "pipefail", "-euc", script]).current_dir(self.tree.path()).env_clear();
        let path = std::env::var_os("PATH").unwrap();
        let path = format!("{}:{}", self.tree.home().join("bin").display(), path.to_string_lossy());
        shell.env("PATH", path).env("HOME", self.tree.home()).env("TMPDIR", self.tree.tmp());
        let input = self.tree.tmp().join("input");
        fs::File::create(&input).unwrap().write_all(stdin.as_bytes()).unwrap();
        shell.stdin(fs::File::open(input).unwrap());
        run(&mut shell)
    }

    /// Returns a value of an object; an empty text if the object does not exist.
    fn value(&self, object: &str, path: &str) -> String {
        self.shell(&format!("kubectl get {object} --ignore-not-found -o jsonpath='{{{path}}}'"), "").ok()
    }

    /// The kinds that the server has by itself, each as `apiVersion kind`.
    fn kinds(&self) -> BTreeSet<String> {
        let printed = self.shell("kubectl api-resources --no-headers", "").ok();
        let words = printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        words.map(|words| format!("{} {}", words[words.len() - 3], words[words.len() - 1])).collect()
    }

    /// Returns the server's answer to objects, which it does not keep.
    fn try_out(&self, objects: &str) -> (Option<i32>, String) {
        let said = self.shell("kubectl apply --server-side --dry-run=server -f - 2>&1", objects);
        (said.status, said.stdout)
    }
}

/// The test of everything: the servers take long to start.
#[test]
fn builds_are_applied() {
    let Some(programs) = std::env::var_os("RUSTOMIZE_APISERVER").map(PathBuf::from) else {
        println!("skipped: RUSTOMIZE_APISERVER is not set; .ci/apiserver makes target/apiserver for it");
        return;
    };
    for program in ["kubectl", "openssl", "git"] {
        assert!(in_path(program).is_some(), "RUSTOMIZE_APISERVER is set, and there is no {program}");
    }
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join(programs);
    let cluster = Cluster::start(&programs);
    apply_change_and_prune(&cluster);
    push(&cluster);
    let tried = try_all_out(&cluster);
    println!("{tried} trees were accepted by the server");
}

/// A build with a plugin is applied; so is a change; and what the change has taken away is pruned.
fn apply_change_and_prune(cluster: &Cluster) {
    let tree = &cluster.tree;
    tree.plugin(
        "Made",
        "#!/bin/sh\necho '{apiVersion: v1, kind: ConfigMap, metadata: {name: made}, data: {by: plugin}}'\n",
    );
    tree.write("shop/made.yaml", "apiVersion: ex.io/v1\nkind: Made\nmetadata: {name: made}\n");
    let text = "generators: [made.yaml]\nlabels: [{pairs: {app: shop}}]\nconfigMapGenerator:\n- name: settings\n  literals: [log=debug]\n";
    tree.write("shop/kustomization.yaml", text);
    let apply = "rustomize build --enable-alpha-plugins shop | kubectl apply --prune -l app=shop -f -";
    let first = cluster.shell(apply, "").ok();
    assert_eq!(first.lines().filter(|line| line.ends_with(" created")).count(), 2, "{first}");
    assert_eq!(cluster.value("configmap/made", ".data.by"), "plugin");
    let names = || cluster.shell("kubectl get configmaps -l app=shop -o name | sed 's,.*/,,'", "").ok();
    let before = names();
    cluster.shell("cd shop && rustomize edit set configmap settings --from-literal=log=info", "").ok();
    let second = cluster.shell(apply, "").ok();
    let (created, pruned) = (second.contains(" created"), second.contains(" pruned"));
    assert!(created && pruned && second.contains("configmap/made unchanged"), "{second}");
    let after = names();
    assert!(before != after && before.lines().count() == 2 && after.lines().count() == 2, "{before}{after}");
    let settings = after.lines().find(|name| name.starts_with("settings-")).unwrap();
    assert_eq!(cluster.value(&format!("configmap/{settings}"), ".data.log"), "info");
}

/// The hook of docs/gitops/git-hook.md, on a real server: a push is applied, and one that does not
/// build is refused and applies nothing.
fn push(cluster: &Cluster) {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/gitops/git-hook.md")).unwrap();
    let hook = page.split_once("`pre-receive`:\n\n```sh\n").unwrap().1.split_once("```").unwrap().0;
    let tree = &cluster.tree;
    git(&tree.home(), &["init", "-q", "--bare", "-b", "main", "server.git"]);
    let place = tree.home().join("server.git/hooks/pre-receive");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(&place, hook).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
    let map =
        |log: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: pushed}}\ndata: {{log: {log}}}\n");
    tree.write("fleet/base/map.yaml", &map("first"));
    tree.write("fleet/base/kustomization.yaml", "resources: [map.yaml]\n");
    for name in ["north", "south"] {
        let text = format!("resources: [../../base]\nnamePrefix: {name}-\n");
        tree.write(&format!("fleet/overlays/{name}/kustomization.yaml"), &text);
    }
    let fleet = tree.path().join("fleet");
    git(&fleet, &["init", "-q", "-b", "main"]);
    let push = |what: &str| {
        git(&fleet, &["add", "."]);
        git(&fleet, &["commit", "-q", "-m", what]);
        cluster.shell("cd fleet && git push -q ../../home/server.git main 2>&1", "")
    };
    let logs = || ["north", "south"].map(|name| cluster.value(&format!("configmap/{name}-pushed"), ".data.log"));
    push("first").ok();
    assert_eq!(logs(), ["first", "first"]);
    // Only the roots that a push changes are applied: what somebody has changed in others stays.
    cluster.shell("kubectl patch configmap south-pushed -p '{\"data\":{\"log\":\"by hand\"}}'", "").ok();
    let text = "resources: [../../base]\nnamePrefix: north-\ncommonAnnotations: {a: b}\n";
    tree.write("fleet/overlays/north/kustomization.yaml", text);
    push("one overlay").ok();
    assert_eq!(cluster.value("configmap/north-pushed", ".metadata.annotations.a"), "b");
    assert_eq!(logs(), ["first", "by hand"]);
    // A broken overlay: nothing is applied, of the other one neither.
    tree.write("fleet/base/map.yaml", &map("second"));
    tree.write("fleet/overlays/south/kustomization.yaml", "resources: [../../base, gone.yaml]\n");
    let refused = push("broken");
    assert!(refused.status == Some(1) && refused.stdout.contains("'gone.yaml'"), "{}", refused.stdout);
    assert_eq!(logs(), ["first", "by hand"]);
    assert_eq!(git(&tree.home().join("server.git"), &["rev-list", "main"]).lines().count(), 2);
    tree.write("fleet/overlays/south/kustomization.yaml", "resources: [../../base]\nnamePrefix: south-\n");
    push("repaired").ok();
    assert_eq!(logs(), ["second", "second"]);
}

/// The kind of a document, as [`Cluster::kinds`] has it.
fn kind(document: &str) -> String {
    let value = crate::support::edit::decoded_all(document).remove(0);
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    format!("{} {}", text("apiVersion"), text("kind"))
}

/// Every example of docs/reference and every other case of testdata that has only kinds of
/// Kubernetes: the server says the same to our output and to kustomize's. Returns how many trees it
/// accepted.
fn try_all_out(cluster: &Cluster) -> usize {
    let kinds = cluster.kinds();
    assert!(kinds.contains("apps/v1 Deployment"), "{kinds:?}");
    let oracle = kustomize();
    let oracle = if oracle.is_file() { Some(oracle) } else { in_path("kustomize") };
    if oracle.is_none() {
        println!("not compared with kustomize, which is not here: run .ci/oracle");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let (mut accepted, mut others) = (0, 0);
    for path in files(&root, ".txtar") {
        let is_reference = path.starts_with(root.join("reference"));
        let (_, parts) = split(&fs::read_to_string(&path).unwrap());
        let is_plain = |name: &str| !["args", "env", "stderr"].contains(&name) && !name.contains(" -> ");
        if !is_reference && (others >= 10 || !parts.iter().all(|(name, _)| is_plain(name))) {
            continue;
        }
        let tree = Tree::new("");
        let inputs = parts.iter().filter(|(name, _)| is_plain(name) && name != "stdout");
        inputs.for_each(|(name, text)| tree.write(name, text));
        let built = tree.run(&["build"]);
        let documents: Vec<&str> = built.stdout.split("\n---\n").collect();
        if built.status != Some(0)
            || built.stdout.is_empty()
            || !documents.iter().all(|text| kinds.contains(&kind(text)))
        {
            continue;
        }
        for document in &documents {
            let value: Value = crate::support::edit::decoded_all(document).remove(0);
            if let Some(namespace) = value["metadata"]["namespace"].as_str() {
                // It may exist already.
                cluster.shell(&format!("kubectl create namespace '{namespace}' 2>&1 || true"), "").ok();
            }
        }
        let ours = cluster.try_out(&built.stdout);
        if let Some(oracle) = &oracle {
            let theirs = run(command(oracle).arg("build").current_dir(tree.path()).env("HOME", tree.home()));
            assert_eq!(theirs.status, Some(0), "{}: {}", path.display(), theirs.stderr);
            let theirs = cluster.try_out(&theirs.stdout);
            assert_eq!(ours.0, theirs.0, "{}: {}{}", path.display(), ours.1, theirs.1);
            // Of several fields that it does not know, the server names any.
            assert!(ours.0 != Some(0) || ours.1 == theirs.1, "{}: {}{}", path.display(), ours.1, theirs.1);
        }
        if ours.0 == Some(0) {
            accepted += 1;
            others += usize::from(!is_reference);
        } else {
            println!("{}: {}", path.strip_prefix(&root).unwrap().display(), ours.1.trim_end());
        }
    }
    assert_eq!(others, 10, "trees of testdata beside the reference");
    assert!(accepted >= 15, "{accepted} trees were accepted");
    accepted
}
