//! The roles of plugins.

use clap::ValueEnum;
use rustomize_manager::author::describe::Role;

/// The role in which a plugin is called.
#[derive(Clone, Copy, ValueEnum)]
pub enum RunAs {
    Generator,
    Transformer,
    Validator,
}

impl From<RunAs> for Role {
    fn from(role: RunAs) -> Role {
        match role {
            RunAs::Generator => Role::Generator,
            RunAs::Transformer => Role::Transformer,
            RunAs::Validator => Role::Validator,
        }
    }
}
