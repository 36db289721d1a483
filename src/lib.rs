//! rustomize builds kustomizations: it prints the bytes that kustomize v5.8.3 prints, in time
//! linear in its input, and runs plugins that cannot hurt the build.
//!
//! A build is a pipeline, and `pipeline::build` lists its steps:
//!
//! 1. `load` finds the kustomization file of a root; `yaml` reads it; `config` decodes it.
//! 2. `pipeline::Target` is a root with its checked `config::Kustomization`.
//! 3. `accumulate` gathers, recursively, the `resource`s that the root names, those that its
//!    `generator`s make and those that its components add. Then the root's `transformer`s and
//!    `plugin`s change all these resources, in the order of `pipeline::plan`.
//! 4. Once, at the end: name hashes are added, name references are updated, resources are sorted,
//!    and resources and annotations that do not belong in the output are removed.
//! 5. `resource::print` prints the result with `yaml::emit`.
//!
//! The modules and the crates below them, in reading order, and what always holds in each:
//!
//! * `pipeline`: the steps. No step is skipped silently.
//! * `config`: the users' configuration, decoded once, straight from nodes.
//! * [`load`]: the only module that reads files of a build; nothing outside a root is read unless
//!   allowed.
//! * `resource`: resources and their list; identity changes only inside `resource::ResMap`.
//! * `merge`: strategic merges, of patches and of values of charts.
//! * `schema`: static tables of Kubernetes kinds; a build pays only for what it looks up.
//! * `check`: holds resources to the schemas of their kinds, when a caller asks for it.
//! * `stage`: what a build hands to its stages, and what a stage is.
//! * `generator`, `transformer`: one stage, one file, named by its kustomize kind.
//! * `plugin`: external plugins, found by kind; no configuration is left behind on any path.
//! * `manager`: plugins that are installed, pinned and shared.
//! * `process`: child processes with limits; none outlives the build.
//! * [`build()`], [`Workspace`], [`Output`]: the face of all this.
//! * `edit`: changes of kustomization files; no byte moves that the change is not about. `create`
//!   writes new ones.
//! * `diff`: the differences of two lists of resources. Nothing is read or printed there.
//! * `localize`: copies a kustomization with all that it names; the copy appears whole.
//! * `package`: the resources of directories, with their comments; nothing is built.
//! * `files`: opens, makes and removes what other people's code could have touched; no link is
//!   followed. `atomic`: files that appear whole; nothing is written through a link.
//! * `yaml`: knows nothing of Kubernetes. Mappings are always in output order.
//! * `parallel`: work on all cores; no result depends on their number. `meter` counts work for
//!   tests. `shell` quotes words for commands in hints, `shown` makes texts fit to be read,
//!   `duration` reads times with units.
//! * [`diag`]: errors and warnings as data, with code, place, field and resource; the library
//!   prints nothing.
//! * `cli`: the only module that knows terminal, environment and exit status.
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
//! let options = |_: usize| Options::default();
//! let built = build_all(&files, &roots, options, together, |_, output| output.print());
//! for (site, built) in roots.iter().zip(built) {
//!     let printed = built.expect("nothing before it failed").value?;
//!     assert!(printed.contains(&format!("namespace: {site}")));
//! }
//! # Ok::<(), rustomize::diag::Error>(())
//! ```

// Without the command, the code that only the command uses is unused.
#![cfg_attr(not(feature = "command"), allow(dead_code, unused_imports))]

mod workspace;

#[cfg(feature = "command")]
mod create;
#[cfg(feature = "command")]
mod edit;
#[cfg(feature = "command")]
mod localize;
#[cfg(feature = "command")]
mod lsp;
#[cfg(feature = "command")]
mod package;

pub use pipeline::Call;
pub use plugin::{PluginOptions, Runners};
pub use resource::{Order, ResId, Resource};
pub use rustomize_base::compat::{Compat, UnknownVersion};
pub use rustomize_base::host::{FixedHost, Host, NoHost};
pub use rustomize_process::{Children, Limits};
pub use schema::Gvk;
pub use stage::history::Write;
pub use stage::{HelmOptions, Mode, NoPlugins, Options, Plugins};
pub use workspace::{Output, Together, Workspace, build, build_all, call};

mod pipeline;

mod diff;
mod lint;

mod config;
pub mod load;

mod resource;
mod merge;
mod schema;
#[cfg(feature = "check")]
pub mod check;
#[cfg(not(feature = "check"))]
#[path = "check/without_check.rs"]
mod check;

mod stage;

mod generator;
mod transformer;

#[cfg(feature = "manager")]
mod manager;
mod plugin;

/// The YAML tree of a [`Resource`].
pub mod tree {
    pub use rustomize_yaml::{
        Arena, Entry, Heap, Key, Mapping, Node, Place, Pos, Scalar, Sequence, Source, Style, Tag, Value, ValueMut,
        documents,
    };
}

pub mod diag;

#[cfg(feature = "command")]
#[doc(hidden)]
pub mod cli;

/// Items for the tests, benches and fuzz targets of this project. They may change at any time.
#[doc(hidden)]
pub mod internal {
    pub use crate::load::git_command::GitCommand;
    pub use crate::load::lock::RemoteLock;
    pub use crate::plugin::locate::Placed;
    pub use crate::plugin::permissions::Permissions;
    pub use crate::plugin::shared_object::{LoadableObject, SharedObjectLoader, SharedObjectProcess};
    pub use crate::schema::{Schema, Schemas};
    pub use crate::stage::{Build, Context};
    pub use rustomize_go_regexp::GoRegex;
    pub use rustomize_plugin_abi::frame::Frame;

    pub mod written {
        pub use crate::config::kustomization::FILE_NAMES;
        pub use crate::config::{Described, Field, Kustomization, Record, Shape, TransformerConfig};
        pub use crate::lint::settings::SHAPE as SETTINGS;
        pub use crate::pipeline::object::{Builtin, GENERATORS, TRANSFORMERS};
    }
    pub mod emit {
        pub use rustomize_yaml::emit::document;
    }
    pub mod host {
        pub use crate::plugin::isolation::ARGUMENT;
    }
    pub mod merge {
        pub use crate::merge::apply;
    }
    pub mod json {
        pub use rustomize_yaml::first_document;
        pub use rustomize_yaml::json::{from_yaml_1_1, write};
    }
    #[cfg(feature = "command")]
    pub mod command {
        pub use crate::cli::tried::build;
        pub use crate::lsp::serve;
    }
    pub mod meter {
        pub use rustomize_base::meter::{reset, taken};
    }
    pub mod roots {
        pub use crate::pipeline::affected::affected;
        pub use crate::pipeline::roots::{FoundRoot, find};
    }
    pub mod wire {
        pub use crate::stage::wire::{parse, take_generator_options};
    }

    #[cfg(feature = "command")]
    pub use crate::cli::cache_directory;

    #[cfg(feature = "manager")]
    pub mod manager {
        pub use crate::load::client::token_variable;
        pub use crate::manager::author::conform::conform;
        pub use crate::manager::author::describe::{Description, Role};
        pub use crate::manager::author::manifest::Manifest;
        pub use crate::manager::author::schema::Schema;
        pub use crate::manager::fetch::archive::unpack;
        pub use crate::manager::fetch::origin::Origin;
        pub use crate::manager::fetch::{FetchLimits, Transfer};
        pub use crate::manager::id::location::Location;
        pub use crate::manager::id::name::{FileName, Platform};
        pub use crate::manager::id::pattern::SourcePattern;
        pub use crate::manager::id::source::Source;
        pub use crate::manager::id::statement::Statement;
        pub use crate::manager::id::version::{Constraint, Version};
        pub use crate::manager::install::pinned;
        pub use crate::manager::policy::Policy;
        pub use crate::manager::policy::amend::Amendment;
        pub use crate::manager::policy::environment::{Environment, MachineBundle};
        pub use crate::manager::policy::image::Image;
        pub use crate::manager::policy::lock::Lock;
        pub use crate::manager::policy::requirements::{Requirements, with};
        pub use crate::manager::policy::trust::Trust;
        pub use crate::manager::resolve::inputs::Inputs;
        pub use crate::manager::resolve::plugins::{Managed, ManagedPlugins};
        pub use crate::manager::resolve::{Chosen, PluginRequest, Resolver, Thoroughness};
        pub use crate::manager::share::mounts::MountedFile;
        pub use crate::manager::share::placement::lay;
        pub use crate::manager::store::record::Record;
    }
}
