//! Attacks: what a kustomization, a plugin, a server or a directory of somebody else could do to
//! the user, tried by programs. Each test is a row of docs/security.md, or a plugin or a file that
//! misbehaves.

#![allow(unreachable_pub, reason = "`pub` is for the other modules of this program")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod budgets;
mod calls;
mod commands;
mod files;
mod hostile;
mod hostile_author;
mod hostile_files;
mod identity;
mod installing;
mod isolation;
mod kills;
mod leftovers;
mod limits;
mod links;
mod processes;
mod registries;
mod sandbox;
mod secrets;
#[path = "../support/mod.rs"]
mod support;
mod trust;
mod users;
mod writing;
