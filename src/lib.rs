//! rustomize builds kustomizations: it prints the bytes that kustomize v5.8.1 prints, in time
//! linear in its input, and runs plugins that cannot hurt the build.
//!
//! A build is a pipeline, and reads as one in [`pipeline::build`]:
//!
//! 1. [`load`] finds the kustomization file of a root; [`yaml`] reads it; [`config`] decodes it.
//! 2. [`pipeline::Target`] is a root with its checked [`config::Kustomization`].
//! 3. `accumulate` gathers, recursively, what [`resource`]s the root names, what its [`generator`]s
//!    make and what its components add, and lets its [`transformer`]s and [`plugin`]s work on all
//!    of it, in the order of [`pipeline::plan`].
//! 4. Once, at the end: name hashes, name references, order, and what is not for the output goes.
//! 5. [`resource::print`] prints the result with [`yaml::emit`].
//!
//! The modules, in reading order, and what always holds in each:
//!
//! * [`pipeline`]: the steps. No step is skipped silently.
//! * [`config`]: what users write, decoded once, straight from nodes.
//! * [`load`]: the only door to files; nothing outside a root is read unless allowed.
//! * [`resource`]: resources and their list; identity changes only inside [`resource::ResMap`].
//! * [`schema`]: static tables of Kubernetes kinds; a build pays only for what it looks up.
//! * [`stage`]: what a build hands to its stages, and what a stage is.
//! * [`generator`], [`transformer`]: one stage, one file, named by its kustomize kind.
//! * [`plugin`]: external plugins, found by kind; no configuration is left behind on any path.
//! * [`manager`]: plugins that are installed, pinned and shared.
//! * [`process`]: child processes with limits; none outlives the build.
//! * [`atomic`]: files that appear whole; nothing is written through a link.
//! * [`yaml`]: knows nothing of Kubernetes. Mappings are always in output order.
//! * [`parallel`]: all cores; no result depends on how many. [`steps`] counts work for tests.
//! * [`diag`]: errors as values with places; the library prints nothing.
//! * [`cli`]: the only one that knows terminal, environment and exit status.
//!
//! ```
//! use rustomize::pipeline;
//! use rustomize::resource::print;
//! use rustomize::stage::{Context, NoPlugins, Options};
//! use rustomize::yaml::Arena;
//!
//! let arena = Arena::new();
//! let cx = Context::new(&arena, Options::default(), NoPlugins);
//! let map = pipeline::build(&cx, "testdata/example/hello").value?;
//! assert!(print(&arena, &map)?.contains("name: hello-web"));
//! # Ok::<(), rustomize::diag::Error>(())
//! ```

pub mod pipeline;

pub mod config;
pub mod load;

pub mod resource;
pub mod schema;

pub mod stage;

pub mod generator;
pub mod transformer;

pub mod manager;
pub mod plugin;

pub mod process;

pub mod atomic;

pub mod parallel;
pub mod steps;

pub mod yaml;

pub mod diag;

pub mod cli;
