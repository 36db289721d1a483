//! The commands, each with its arguments, their help and their completion.

pub mod build;
pub mod validate;
pub mod lint;
pub mod diff;
pub mod explain;
pub mod tree;
pub mod edit;
pub mod create;
pub mod localize;
pub mod vendor;
pub mod cache;
pub mod hook;
pub mod plugin;
pub mod doctor;
pub mod lsp;
pub mod krm_function;
pub mod cfg;
pub mod fn_run;
pub mod openapi;
pub mod version;
pub mod completion;
pub mod man;
