//! Plugins for rustomize, and for kustomize, in Rust.
//!
//! A plugin is a type that is read from the configuration object and implements a method for each
//! of its roles. One source serves as a shared object (a `cdylib` with [`export!`]), as an exec
//! plugin and as a KRM function (a program whose `main` is [`main`]).
//!
//! ```
//! use rustomize_plugin::{Call, DynamicObject, JsonSchema, Plugin, Result, Role};
//! use serde::Deserialize;
//!
//! /// Sets the label `team`.
//! #[derive(Deserialize, JsonSchema)]
//! struct TeamLabel {
//!     /// The team that owns the resources.
//!     team: String,
//! }
//!
//! impl Plugin for TeamLabel {
//!     const NAME: &'static str = "team-label";
//!     const VERSION: &'static str = "1.0.0";
//!     const API_VERSION: &'static str = "example.com/v1";
//!     const KIND: &'static str = "TeamLabel";
//!     const ROLES: &'static [Role] = &[Role::Transformer];
//!
//!     fn transform(&self, _call: &Call, resources: &mut Vec<DynamicObject>) -> Result<()> {
//!         for resource in resources {
//!             let labels = resource.metadata.labels.get_or_insert_default();
//!             labels.insert("team".to_owned(), self.team.clone());
//!         }
//!         Ok(())
//!     }
//! }
//!
//! rustomize_plugin::export!(TeamLabel);
//!
//! // A test of the plugin: the real encoding, the real functions.
//! let config = "apiVersion: example.com/v1\nkind: TeamLabel\nmetadata: {name: x}\nteam: blue\n";
//! let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n";
//! let out = rustomize_plugin::test::transform::<TeamLabel>(config, pod)?;
//! assert_eq!(out, "apiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    team: blue\n  name: a\n");
//! # Ok::<(), String>(())
//! ```
//!
//! The doc comments of the type and of its fields are the plugin's documentation: [`describe`]
//! makes a JSON Schema of the type, and rustomize checks a configuration object against the schema
//! before the plugin runs. A field that the schema does not name is an error there.
//!
//! Resources that a plugin does not change pass through byte for byte, even the parts that this
//! crate does not know. A plugin's own crate depends on `serde` and on `schemars` 1 for the two
//! derives, and chooses a version of Kubernetes for kube-core:
//! `k8s-openapi = { version = "0.29", features = ["latest"] }`.

#![forbid(unsafe_code)]

mod describe;
mod documents;
#[expect(clippy::disallowed_methods, reason = "the environment of a plugin as a program names its role")]
mod program;
pub mod test;

pub use describe::{describe, manifest, schema};
pub use kube_core::{DynamicObject, TypeMeta};
pub use program::main;
pub use rustomize_plugin_abi as abi;
pub use schemars::{self, JsonSchema};
pub use serde_json::json;

use documents::Documents;
use rustomize_plugin_abi::{Asked, CallError, Guest, Mode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// The error of a plugin: any error type, or a text.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// A result of a plugin.
pub type Result<T> = std::result::Result<T, Error>;

/// The field of a kustomization under which a plugin can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `generators`: it makes resources.
    Generator,
    /// `transformers`: it changes, adds and removes resources.
    Transformer,
    /// `validators`: it refuses resources, and changes nothing.
    Validator,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Generator => "generator",
            Role::Transformer => "transformer",
            Role::Validator => "validator",
        })
    }
}

/// The role in the interface of shared objects.
fn mode(role: Role) -> Mode {
    match role {
        Role::Generator => Mode::Generate,
        Role::Transformer => Mode::Transform,
        Role::Validator => Mode::Validate,
    }
}

/// The circumstances of a call: the kustomization, and the name of the configuration object.
#[derive(Clone, Debug)]
pub struct Call {
    name: String,
    root: PathBuf,
    options: serde_json::Value,
}

impl Call {
    /// `metadata.name` of the configuration object; empty if the object has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The directory of the kustomization that lists the plugin. It is also the working directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns true if the build lets the kustomization read files outside its root.
    pub fn is_unrestricted(&self) -> bool {
        self.options.get("loadRestrictor").is_some_and(|name| name == "LoadRestrictionsNone")
    }
}

/// A plugin: its fields are read from the configuration object.
///
/// A plugin implements the method of each of its [`Plugin::ROLES`]; no other method is called.
pub trait Plugin: DeserializeOwned + JsonSchema {
    /// The plugin's name, for messages and lists.
    const NAME: &'static str;
    /// The plugin's version: `env!("CARGO_PKG_VERSION")`.
    const VERSION: &'static str;
    /// The apiVersion of its configuration objects, as in `example.com/v1`.
    const API_VERSION: &'static str;
    /// The kind of its configuration objects, as in `TeamLabel`.
    const KIND: &'static str;
    /// The fields of a kustomization under which it can be listed.
    const ROLES: &'static [Role];
    /// True if the plugin may be started once and called often: it keeps nothing between calls that
    /// later calls must not see, and prints nothing to stdout.
    const IS_WORKER: bool = false;

    /// Makes resources.
    ///
    /// # Errors
    /// An error fails the build.
    fn generate(&self, _call: &Call) -> Result<Vec<DynamicObject>> {
        Err("this plugin does not generate".into())
    }

    /// Changes, adds and removes resources. A resource that is not in the list afterwards is
    /// removed.
    ///
    /// # Errors
    /// An error fails the build.
    fn transform(&self, _call: &Call, _resources: &mut Vec<DynamicObject>) -> Result<()> {
        Err("this plugin does not transform".into())
    }

    /// Looks at resources.
    ///
    /// # Errors
    /// An error fails the build.
    fn validate(&self, _call: &Call, _resources: &[DynamicObject]) -> Result<()> {
        Err("this plugin does not validate".into())
    }
}

/// Exports a [`Plugin`] from a `cdylib`. One shared object has one plugin.
#[macro_export]
macro_rules! export {
    ($plugin:ty) => {
        $crate::abi::export!($crate::Exported<$plugin>);
    };
}

/// A plugin with the functions of the interface; [`export!`] names it.
pub struct Exported<P>(PhantomData<P>);

impl<P: Plugin> Guest for Exported<P> {
    fn describe() -> String {
        describe::describe::<P>().to_string()
    }

    fn run(asked: Asked<'_>) -> std::result::Result<String, CallError> {
        if !P::ROLES.iter().any(|role| mode(*role) == asked.mode) {
            return Err(CallError::Unsupported);
        }
        run::<P>(&asked).map_err(|e| CallError::Failed(words(&*e)))
    }
}

/// The fields of every configuration object beside a plugin's own ones.
#[derive(Default, Deserialize)]
struct Head {
    #[serde(default)]
    metadata: HeadMetadata,
}

#[derive(Default, Deserialize)]
struct HeadMetadata {
    #[serde(default)]
    name: String,
}

fn run<P: Plugin>(asked: &Asked<'_>) -> Result<String> {
    let plugin: P = documents::parse(asked.config).map_err(|e| format!("the configuration: {e}"))?;
    let head: Head = documents::parse(asked.config).unwrap_or_default();
    let call = Call {
        name: head.metadata.name,
        root: asked.root.into(),
        options: serde_json::from_str(asked.options).unwrap_or_default(),
    };
    let mut documents = Documents::parse(asked.resources)?;
    match asked.mode {
        Mode::Generate => Ok(documents::print(&plugin.generate(&call)?)),
        Mode::Transform => {
            let mut resources = documents.objects();
            plugin.transform(&call, &mut resources)?;
            Ok(documents.print(&resources))
        }
        Mode::Validate => {
            plugin.validate(&call, &documents.objects())?;
            Ok(asked.resources.to_owned())
        }
    }
}

/// An error with its causes.
fn words(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        // The text of some errors contains their cause.
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}
