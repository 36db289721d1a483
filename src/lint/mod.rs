//! Findings: likely mistakes that kustomize says nothing about. A stage finds entries without
//! effect itself; this module looks at kustomization files, at the configurations that they name,
//! and at the result of a build.

pub mod allow;
pub mod configuration;
pub mod file;
mod finding;
mod names;
mod parts;
mod references;
pub mod result;
mod secrets;
mod services;
pub mod settings;
