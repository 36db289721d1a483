//! [`Request`]: the requests that the core answers, as JSON.

use crate::host::{Host, HostRemotes};
use rustomize_engine::diag::{Code, Error, Result};
use rustomize_engine::load::{FileLimit, Restrictor};
use rustomize_engine::{Compat, HelmOptions, Options, Order, UnknownVersion};
use serde::Deserialize;
use std::sync::Arc;

/// A request. Its member `op` is the name of the variant in lower case.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// Prints the output of a build.
    Build {
        /// The directory of the kustomization.
        root: String,
        #[serde(default)]
        options: BuildOptions,
    },
    /// Builds, and returns findings: entries without effect and likely mistakes.
    Lint {
        root: String,
        #[serde(default)]
        options: BuildOptions,
        /// Codes of findings that are off by default, and are looked for.
        #[serde(default)]
        warn: Vec<String>,
        /// Codes of findings that are left out.
        #[serde(default)]
        allow: Vec<String>,
    },
    /// Builds, and returns the steps that wrote the fields of a resource, or a list of all
    /// resources.
    Explain {
        root: String,
        #[serde(default)]
        options: BuildOptions,
        /// `NAME`, `KIND/NAME` or `KIND/NAMESPACE/NAME`.
        resource: Option<String>,
        /// A path with dots, or a JSON pointer.
        field: Option<String>,
        /// True to show the values of Secrets.
        #[serde(default, rename = "showSecrets")]
        shows_secrets: bool,
    },
    /// Compares two outputs.
    Diff {
        before: DiffSide,
        after: DiffSide,
        #[serde(default)]
        options: BuildOptions,
        /// True to show the values of Secrets.
        #[serde(default, rename = "showSecrets")]
        shows_secrets: bool,
    },
    /// Returns versions.
    Version {},
}

/// A side of a comparison: one of the two.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiffSide {
    /// The directory of a kustomization, which is built.
    Root(String),
    /// Resources as YAML.
    Text(String),
}

/// The options of a build. All may be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct BuildOptions {
    /// The version of kustomize whose bytes are printed, as in `5.7.1` or `kubectl-1.34`.
    pub compat: Option<String>,
    /// `LoadRestrictionsRootOnly` or `LoadRestrictionsNone`.
    pub load_restrictor: Option<String>,
    /// `legacy` or `none`, unless the kustomization says an order.
    pub reorder: Option<String>,
    /// Sets the label `app.kubernetes.io/managed-by` on everything.
    pub managed_by_label: bool,
    /// The largest size of a file, in bytes.
    pub file_size_limit: Option<u64>,
    /// The bytes that the steps of the build may make.
    pub build_size_limit: Option<u64>,
    /// Merges lists of custom kinds by the keys that CustomResourceDefinitions in the tree name.
    pub crd_merge_keys: bool,
    /// Lets a schema of `openapi` add to the built-in ones.
    pub openapi_adds: bool,
    /// True if the host answers questions for repositories and for files over HTTP. Otherwise
    /// remote parts are refused.
    pub remote: bool,
    /// True if charts are allowed. The core renders none: the error then has the code
    /// `not-enabled`, and the host may build in another way.
    pub helm: bool,
}

/// The usual limit of a build: half of what an instance can address would leave no room for lists.
const BUILD_LIMIT: u64 = 1 << 30;

/// The error about an option with an unknown value.
fn unknown(option: &str, value: &str, known: &str) -> Error {
    let error = Error::new(Code::Usage, format!("invalid value '{value}' of the option '{option}'"));
    error.hint(format!("the known ones are {known}"))
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    /// The text is not a request of this version.
    pub(crate) fn parse(text: &[u8]) -> Result<Request> {
        serde_json::from_slice(text).map_err(|e| Error::new(Code::Usage, format!("invalid request: {e}")))
    }
}

/// The codes of findings with these names.
///
/// # Errors
/// A name is unknown.
pub(crate) fn codes(names: &[String]) -> Result<Vec<Code>> {
    let code = |name: &String| {
        let error = |hint| Error::new(Code::Usage, format!("'{name}' is not the code of a finding")).hint(hint);
        Code::finding(name).map_err(error)
    };
    names.iter().map(code).collect()
}

impl BuildOptions {
    /// The options for the engine.
    ///
    /// # Errors
    /// A value is unknown.
    pub(crate) fn resolve(&self, host: &Arc<Host>) -> Result<Options> {
        let compat = self.compat.as_deref().map(Compat::parse).transpose().map_err(|e| {
            Error::new(Code::Usage, e.to_string()).hint(format!("the known ones are {}", UnknownVersion::known()))
        })?;
        let restrictor = match self.load_restrictor.as_deref() {
            None | Some("" | "LoadRestrictionsRootOnly") => Restrictor::RootOnly,
            Some("LoadRestrictionsNone") => Restrictor::None,
            Some(other) => {
                return Err(unknown("loadRestrictor", other, "LoadRestrictionsRootOnly and LoadRestrictionsNone"));
            }
        };
        let order = match self.reorder.as_deref() {
            None | Some("") => None,
            Some("legacy") => Some(Order::Legacy),
            Some("none") => Some(Order::Fifo),
            Some(other) => return Err(unknown("reorder", other, "legacy and none")),
        };
        let mut options = Options {
            compat: compat.unwrap_or_default(),
            restrictor,
            order,
            managed_by_label: self.managed_by_label,
            file_limit: self.file_size_limit.map_or_else(FileLimit::default, FileLimit),
            build_limit: Some(self.build_size_limit.unwrap_or(BUILD_LIMIT)),
            crd_merge_keys: self.crd_merge_keys,
            openapi_adds: self.openapi_adds,
            helm: HelmOptions { enabled: self.helm, ..HelmOptions::default() },
            ..Options::default()
        };
        if self.remote {
            options.remote = Arc::new(HostRemotes(Arc::clone(host)));
        }
        Ok(options)
    }
}
