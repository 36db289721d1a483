//! The tests that run the whole thing. One binary: linking is what costs time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod attack;
mod author;
mod author_circle;
mod bad_documents;
mod cli;
mod containers;
mod differential;
mod docs;
mod environment;
mod errors;
mod experiments;
mod function;
mod go;
mod go_examples;
mod go_regexp;
mod helm;
mod hints;
mod hostile;
mod hostile_author;
mod images;
mod install;
mod installed;
mod isolation;
mod jobs;
mod kills;
mod library;
mod manager;
mod plugin;
mod reference;
mod remote;
mod resolver;
mod requirements;
mod roots;
mod scaling;
mod schema;
mod sdk;
mod servers;
mod shared_object;
mod suite;
mod support;
mod tidy;
mod trace;
mod transfer;
mod workers;
