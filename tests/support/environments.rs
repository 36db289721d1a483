//! Environments: their files, a server of their bundles, and what a client has of them.

use super::Tree;
use super::servers::FileServer;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

pub fn environments(tree: &Tree) -> PathBuf {
    tree.home().join(".config/rustomize/environments")
}

/// Puts a plugin into a bundle of an environment.
pub fn bundle(tree: &Tree, path: &str, v: &str) {
    let script = format!(
        "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {{name: made}}\\ndata: {{v: {v}}}\\n'\n"
    );
    tree.write(&format!("../home/.config/rustomize/environments/{path}/plugin/ex.io/v1/made/Made"), &script);
}

pub fn environment(tree: &Tree, name: &str, text: &str) {
    let text = format!("apiVersion: rustomize.dev/v1\nkind: Environment\n{text}");
    tree.write(&format!("../home/.config/rustomize/environments/{name}/environment.yaml"), &text);
}

/// A plain file server with the bundles of an environment as they were when they were last
/// exported. It ends when it is dropped.
pub struct Server {
    files: FileServer,
    pub url: String,
}

/// Where the bundles of an environment are exported to.
pub fn exported(tree: &Tree) -> PathBuf {
    tree.home().join("www")
}

/// Exports the bundles of an environment to a web server's directory.
pub fn export(tree: &Tree, environment: &str) -> String {
    let to = exported(tree);
    tree.run(&["plugin", "export", "--mounts", to.to_str().unwrap(), "--environment", environment]).ok()
}

impl Server {
    pub fn start(tree: &Tree, environment: &str) -> Server {
        export(tree, environment);
        let files = FileServer::start(exported(tree));
        Server { url: files.url.clone(), files }
    }

    /// The requests since the last call of this function: lists and contents.
    pub fn asked(&self) -> (usize, usize) {
        let asked = self.files.asked();
        let of = |start: &str| asked.iter().filter(|path| path.starts_with(start)).count();
        let counts = (of("/v3/file_metadatas/"), of("/v3/file_content/"));
        assert_eq!(counts.0 + counts.1, asked.len(), "{asked:?}");
        counts
    }
}

pub fn synced(tree: &Tree, name: &str) -> BTreeMap<String, (Vec<u8>, u32)> {
    let current = tree.home().join(".cache/rustomize/sync").join(name).join("current");
    let mut found = BTreeMap::new();
    let mut queue = vec![(String::new(), current)];
    while let Some((prefix, folder)) = queue.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                queue.push((format!("{name}/"), entry.path()));
            } else if name != "server" {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
                found.insert(name, (fs::read(entry.path()).unwrap(), mode));
            }
        }
    }
    found
}

/// A kind that Kubernetes does not have: of the whole cluster, with a list that is a map and a
/// reference.
pub const CRD: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: fleets.ex.io}
spec:
  group: ex.io
  scope: Cluster
  names: {kind: Fleet, plural: fleets}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              ships:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  properties:
                    settings:
                      type: object
                      x-kubernetes-object-ref-api-version: v1
                      x-kubernetes-object-ref-kind: ConfigMap
";

/// The same kind of knowledge as OpenAPI.
pub const OPEN_API: &str = r##"{"definitions": {
  "ex.Raft": {"x-kubernetes-group-version-kind": [{"group": "ex.io", "version": "v1", "kind": "Raft"}], "properties": {"spec": {"$ref": "#/definitions/ex.Spec"}}},
  "ex.Spec": {"properties": {"logs": {"type": "array", "items": {"$ref": "#/definitions/ex.Log"}, "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "id"}}},
  "ex.Log": {"properties": {"id": {"type": "string"}}}}}"##;
