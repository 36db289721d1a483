//! Attacks: what a kustomization, a plugin, a server or a directory of somebody else could do to the
//! user, tried by programs. Each case is named by its letter and number in docs/security.md.

mod budgets;
mod commands;
mod sandbox;
mod secrets;
mod trust;
