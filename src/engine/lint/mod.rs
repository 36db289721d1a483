//! Findings: likely mistakes that kustomize says nothing about. A stage finds entries without
//! effect itself; this module looks at kustomization files, at files that are for some kinds, at
//! the transformers of a kustomization before they run, and at the result of a build.

mod copies;
mod data;
pub mod file;
mod finding;
pub mod for_kinds;
mod index;
mod marks;
mod names;
mod near;
pub mod objects;
mod old_names;
pub mod overridden;
mod parts;
mod pods;
mod quotes;
mod references;
pub mod result;
mod secrets;
mod services;
pub mod settings;
mod unused;
