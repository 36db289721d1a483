//! Findings: likely mistakes that kustomize says nothing about. A stage finds entries without
//! effect itself; this module looks at kustomization files and at the result of a build.

pub mod allow;
pub mod file;
pub mod result;
