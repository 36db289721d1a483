//! The commands, each with its arguments, their help and their completion.

pub(super) mod build;
pub(super) mod validate;
pub(super) mod lint;
pub(super) mod diff;
pub(super) mod explain;
pub(super) mod tree;
pub(super) mod affected;
pub(super) mod images;
pub(super) mod watch;
pub(super) mod edit;
pub(super) mod promote;
pub(super) mod create;
pub(super) mod localize;
pub(super) mod vendor;
pub(super) mod cache;
pub(super) mod hook;
pub(super) mod plugin;
pub(super) mod doctor;
pub(super) mod lsp;
pub(super) mod krm_function;
pub(super) mod cfg;
pub(super) mod fn_run;
pub(super) mod openapi;
pub(super) mod version;
pub(super) mod completion;
pub(super) mod man;
