#![forbid(unsafe_code)]
//! Builds kustomizations.

pub mod cli;
pub mod config;
pub mod diag;
pub mod generator;
pub mod load;
pub mod pipeline;
pub mod plugin;
pub mod resource;
pub mod schema;
pub mod transformer;
pub mod yaml;
