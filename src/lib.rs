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
//! * [`build`], [`Workspace`], [`Output`]: the face of all this.
//! * [`atomic`]: files that appear whole; nothing is written through a link.
//! * [`yaml`]: knows nothing of Kubernetes. Mappings are always in output order.
//! * [`parallel`]: all cores; no result depends on how many. [`steps`] counts work for tests.
//! * [`diag`]: errors as values with places; the library prints nothing.
//! * [`cli`]: the only one that knows terminal, environment and exit status.
//!
//! # Builds from disk
//!
//! ```
//! use rustomize::{Options, Workspace, build, load::Disk};
//!
//! let (workspace, disk) = (Workspace::new(), Disk::new());
//! let built = build(&workspace, &disk, "testdata/example/hello", &Options::default());
//! assert!(built.warnings.is_empty());
//! assert!(built.value?.print()?.contains("name: hello-web"));
//! # Ok::<(), rustomize::diag::Error>(())
//! ```
//!
//! # Builds from memory
//!
//! ```
//! use rustomize::{Options, Workspace, build, load::Memory};
//!
//! let files = Memory::from_iter([
//!     ("app/kustomization.yaml", "namePrefix: blue-\nresources: [service.yaml]\n"),
//!     ("app/service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"),
//! ]);
//! let workspace = Workspace::new();
//! let output = build(&workspace, &files, "app", &Options::default()).value?;
//! assert_eq!(output.print()?, "apiVersion: v1\nkind: Service\nmetadata:\n  name: blue-web\n");
//! # Ok::<(), rustomize::diag::Error>(())
//! ```
//!
//! # Many roots
//!
//! ```
//! use rustomize::{Options, Together, build_all, load::Memory};
//! use std::num::NonZero;
//!
//! let mut files = Memory::new();
//! files.set("base/kustomization.yaml", "resources: [map.yaml]\n");
//! files.set("base/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n");
//! for site in ["north", "south"] {
//!     let text = format!("namespace: {site}\nresources: [../base]\n");
//!     files.set(format!("{site}/kustomization.yaml"), text);
//! }
//! let roots = ["north".to_owned(), "south".to_owned()];
//! let together = Together { jobs: NonZero::new(2).unwrap(), keep_going: false };
//! let built = build_all(&files, &roots, |_| Options::default(), together, |_, output| output.print());
//! for (site, built) in roots.iter().zip(built) {
//!     let printed = built.expect("nothing before it failed").value?;
//!     assert!(printed.contains(&format!("namespace: {site}")));
//! }
//! # Ok::<(), rustomize::diag::Error>(())
//! ```

mod workspace;

pub use stage::Options;
pub use workspace::{Output, Together, Workspace, build, build_all, call};

pub mod pipeline;

pub mod config;
pub mod load;

pub mod resource;
pub mod schema;

pub mod stage;

pub mod generator;
pub mod transformer;

#[cfg(feature = "manager")]
pub mod manager;
pub mod plugin;

pub mod process;

pub mod atomic;

pub mod parallel;
pub mod steps;

pub mod yaml;

pub mod diag;

#[cfg(feature = "command")]
pub mod cli;
