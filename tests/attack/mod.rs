//! Attacks: what a kustomization, a plugin, a server or a directory of somebody else could do to
//! the user, tried by programs. The name of a test begins with the letter and number of its attack,
//! if it has one.

mod budgets;
mod calls;
mod commands;
mod files;
mod identity;
mod installing;
mod leftovers;
mod limits;
mod links;
mod processes;
pub mod sandbox;
mod secrets;
mod trust;
mod writing;
