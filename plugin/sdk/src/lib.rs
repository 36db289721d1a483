//! Plugins for rustomize, and for kustomize, in Rust.
//!
//! A plugin is a type that is read from the configuration object and says what it does with resources. One source serves as a shared
//! object (a `cdylib` with [`export!`]), as an exec plugin and as a KRM function (a program whose `main` is [`main`]).
//!
//! ```
//! use rustomize_plugin::{Call, DynamicObject, Mode, Plugin, Result};
//! use serde::Deserialize;
//!
//! /// Sets the label `team`.
//! #[derive(Deserialize)]
//! struct TeamLabel {
//!     team: String,
//! }
//!
//! impl Plugin for TeamLabel {
//!     const NAME: &'static str = "team-label";
//!     const VERSION: &'static str = "1.0.0";
//!     const MODES: &'static [Mode] = &[Mode::Transform];
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
//! // What a test of the plugin looks like: the real encoding, the real functions.
//! let config = "apiVersion: example.com/v1\nkind: TeamLabel\nmetadata: {name: x}\nteam: blue\n";
//! let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n";
//! let out = rustomize_plugin::test::transform::<TeamLabel>(config, pod)?;
//! assert_eq!(out, "apiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    team: blue\n  name: a\n");
//! # Ok::<(), String>(())
//! ```
//!
//! Resources that a plugin does not change pass through as they came, byte for byte, whatever this crate understands of them.
//! A crate that uses this one has to choose a version of Kubernetes for kube-core:
//! `k8s-openapi = { version = "0.29", features = ["latest"] }`.

#![forbid(unsafe_code)]

mod documents;
#[expect(clippy::disallowed_methods, reason = "a plugin as a program is told by its environment what is wanted")]
mod program;
pub mod test;

pub use kube_core::{DynamicObject, TypeMeta};
pub use program::main;
pub use rustomize_plugin_abi as abi;
pub use rustomize_plugin_abi::Mode;
pub use serde_json::json;

use documents::Documents;
use rustomize_plugin_abi::{Asked, CallError, Guest};
use serde::de::DeserializeOwned;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// What goes wrong in a plugin: any error, or a text.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// A result of a plugin.
pub type Result<T> = std::result::Result<T, Error>;

/// Where a plugin is called.
#[derive(Clone, Debug)]
pub struct Call {
    root: PathBuf,
    options: serde_json::Value,
}

impl Call {
    /// The directory of the kustomization that lists the plugin; it is the working directory too.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the build lets the kustomization read files outside its root.
    pub fn is_unrestricted(&self) -> bool {
        self.options.get("loadRestrictor").is_some_and(|name| name == "LoadRestrictionsNone")
    }
}

/// A plugin: its fields are read from the configuration object, where fields that are not known do not count.
///
/// A method is called if its mode is among [`Plugin::MODES`].
pub trait Plugin: DeserializeOwned {
    /// Its name, for messages and lists.
    const NAME: &'static str;
    /// Its version.
    const VERSION: &'static str;
    /// What it can do.
    const MODES: &'static [Mode];

    /// Makes resources.
    ///
    /// # Errors
    /// What fails the build.
    fn generate(&self, _call: &Call) -> Result<Vec<DynamicObject>> {
        Err("this plugin does not generate".into())
    }

    /// Changes, adds and removes resources. What is not there afterwards is gone.
    ///
    /// # Errors
    /// What fails the build.
    fn transform(&self, _call: &Call, _resources: &mut Vec<DynamicObject>) -> Result<()> {
        Err("this plugin does not transform".into())
    }

    /// Looks at resources.
    ///
    /// # Errors
    /// What is wrong with them; it fails the build.
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

/// A plugin behind the functions of the interface; [`export!`] names it.
pub struct Exported<P>(PhantomData<P>);

impl<P: Plugin> Guest for Exported<P> {
    fn describe() -> String {
        let modes: Vec<&str> = P::MODES.iter().map(|mode| mode_name(*mode)).collect();
        serde_json::json!({ "name": P::NAME, "version": P::VERSION, "modes": modes, "language": "rust" }).to_string()
    }

    fn run(asked: Asked<'_>) -> std::result::Result<String, CallError> {
        if !P::MODES.contains(&asked.mode) {
            return Err(CallError::Unsupported);
        }
        run::<P>(&asked).map_err(|e| CallError::Failed(words(&*e)))
    }
}

fn run<P: Plugin>(asked: &Asked<'_>) -> Result<String> {
    let plugin: P = documents::parse(asked.config).map_err(|e| format!("the configuration: {e}"))?;
    let call = Call { root: asked.root.into(), options: serde_json::from_str(asked.options).unwrap_or_default() };
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

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Generate => "generate",
        Mode::Transform => "transform",
        Mode::Validate => "validate",
    }
}

/// An error and what caused it.
fn words(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        // Some errors say their cause themselves.
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}
