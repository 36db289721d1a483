//! The engine of rustomize: it builds kustomizations, and prints the bytes that kustomize v5.8.3
//! prints, in time linear in its input. It starts no process, has no network and calls no system:
//! whatever a build needs of the outside comes through a trait.
//!
//! * [`load::Loader`]: the files of a build.
//! * [`load::Remotes`] and [`load::Fetch`]: repositories, files over HTTP, artifacts, charts;
//!   [`load::NoRemotes`] has none.
//! * [`stage::Helm`]: rendered charts; [`stage::NoHelm`] renders none.
//! * [`Plugins`]: external plugins; [`NoPlugins`] has none.
//!
//! A build is a pipeline, and `pipeline::build` lists its steps:
//!
//! 1. `load` finds the kustomization file of a root; `config` decodes it.
//! 2. `pipeline::Target` is a root with its checked `config::Kustomization`.
//! 3. `accumulate` gathers, recursively, the `resource`s that the root names, those that its
//!    `generator`s make and those that its components add. Then the root's `transformer`s and
//!    plugins change all these resources, in the order of `pipeline::plan`.
//! 4. Once, at the end: name hashes are added, name references are updated, resources are sorted,
//!    and resources and annotations that do not belong in the output are removed.
//! 5. `resource::print` prints the result.
//!
//! The modules, in reading order, and what always holds in each:
//!
//! * [`pipeline`]: the steps. No step is skipped silently.
//! * [`config`]: the users' configuration, decoded once, straight from nodes.
//! * [`load`]: the only module that reads files of a build; nothing outside a root is read unless
//!   allowed.
//! * [`resource`]: resources and their list; identity changes only inside `resource::ResMap`.
//! * [`merge`]: strategic merges, of patches and of values of charts.
//! * [`schema`]: static tables of Kubernetes kinds; a build pays only for what it looks up.
//! * [`check`]: holds resources to the schemas of their kinds, when a caller asks for it.
//! * [`stage`]: what a build hands to its stages, and what a stage is.
//! * [`generator`], [`transformer`]: one stage, one file, named by its kustomize kind.
//! * [`lint`]: findings about entries without effect, and likely mistakes.
//! * [`diff`]: the differences of two lists of resources. Nothing is read or printed there.
//! * [`diag`]: errors and warnings as data, with code, place, field and resource; the library
//!   prints nothing.
//! * [`build()`], [`Workspace`], [`Output`]: the face of all this.
//!
//! # Builds from memory
//!
//! ```
//! use rustomize_engine::{Options, Workspace, build, load::Memory};
//!
//! let files = Memory::from_iter([
//!     ("app/kustomization.yaml", "namePrefix: blue-\nresources: [service.yaml]\n"),
//!     ("app/service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"),
//! ]);
//! let workspace = Workspace::new();
//! let output = build(&workspace, &files, "app", &Options::default()).value?;
//! assert_eq!(output.print()?, "apiVersion: v1\nkind: Service\nmetadata:\n  name: blue-web\n");
//! # Ok::<(), rustomize_engine::diag::Error>(())
//! ```

pub mod diag;

pub mod config;
pub mod load;

pub mod merge;
pub mod resource;
pub mod schema;
pub mod check;

pub mod stage;

pub mod generator;
pub mod transformer;

pub mod diff;
pub mod lint;
pub mod pipeline;
pub mod workspace;

pub use pipeline::Call;
pub use resource::{Order, ResId, Resource};
pub use rustomize_base::compat::{Compat, UnknownVersion};
pub use schema::Gvk;
pub use stage::history::Write;
pub use stage::{HelmOptions, Mode, NoPlugins, Options, Plugins};
pub use workspace::{Output, Together, Workspace, build, build_all, call};

/// The YAML tree of a [`Resource`].
pub mod tree {
    pub use rustomize_yaml::{
        Arena, Entry, Heap, Key, Mapping, Node, Place, Pos, Scalar, Sequence, Source, Style, Tag, Value, ValueMut,
        documents,
    };
}
