//! Bundles of plugins that can be installed.

use super::environments::CRD;
use super::packages::tar_gz;
use std::collections::BTreeMap;

/// The files of a bundle by their names.
pub type Bundle = BTreeMap<&'static str, String>;

/// A bundle with a generator for `Made`, which prints a file beside it, and with a schema.
pub fn bundle(name: &str, version: &str) -> Bundle {
    BTreeMap::from([
        ("plugin.yaml", manifest(name, version)),
        ("plugin/ex.io/v1/made/Made", MADE.to_owned()),
        ("plugin/ex.io/v1/made/values.txt", version.to_owned()),
        ("schemas/fleet.yaml", CRD.to_owned()),
    ])
}

pub fn manifest(name: &str, version: &str) -> String {
    format!("apiVersion: rustomize.dev/v1\nkind: Bundle\nname: {name}\nversion: {version}\n")
}

pub const MADE: &str = "#!/bin/sh
printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: \"%s\"}\\n' \"$(cat \"${0%/*}/values.txt\")\"
";

pub fn archive(bundle: &Bundle) -> Vec<u8> {
    tar_gz(&bundle.iter().map(|(path, text)| (*path, text.as_str())).collect::<Vec<_>>())
}
