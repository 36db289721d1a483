//! rustomize builds kustomizations: it prints the bytes that kustomize v5.8.3 prints, in time
//! linear in its input, and runs plugins that cannot hurt the build.
//!
//! The crates below it are its layers: `rustomize-engine` builds, from texts to texts, and has the
//! map of a build; `rustomize-sources` has the files of this machine and all that is fetched;
//! `rustomize-edit` changes, makes and copies kustomizations; `rustomize-plugins` runs external
//! plugins, `rustomize-manager` installs and shares them; `rustomize-lsp` is the language server.
//!
//! [`load`] has the inputs of builds, of the engine and the sources. The command is a crate of its
//! own, `rustomize-cli`: the only one that knows terminal, environment and exit status.
//!
//! An option of a build that is not set brings nothing of the outside: [`Options::remote`] gives a
//! build its remote parts, as [`load::RemoteOptions`]; [`HelmOptions::program`] renders charts, as
//! [`load::HelmProgram`]; [`Options::plugins`] runs plugins, as [`Runners`].
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

pub use rustomize_base::host::{FixedHost, Host, NoHost};
pub use rustomize_engine::{
    Call, Compat, Gvk, HelmOptions, Mode, NoPlugins, Options, Order, Output, Plugins, ResId, Resource, Together,
    UnknownVersion, Workspace, Write, build, build_all, call, check, diag, tree,
};
pub use rustomize_plugins::{PluginOptions, Runners};
pub use rustomize_process::{Children, Limits};

/// The inputs of builds: the traits of the engine, and what implements them.
pub mod load {
    pub use rustomize_engine::load::{
        Common, Fetch, FileLimit, Files, Loader, Memory, NoRemotes, NotLoaded, Overlay, Remote, Remotes, RepoSpec,
        Restrictor, Root, artifact_reference, clean, host, is_url, join, loader, remote,
    };
    pub use rustomize_sources::{
        Disk, HelmProgram, Lock, ReadFile, RemoteOptions, RemoteParts, Secrets, archive, cache, client, git,
        git_command, http, links, lock, oci, sum, vendor,
    };
}

/// The program of docs/embed/rust.md, as a test.
#[cfg(doctest)]
#[doc = include_str!("../docs/embed/rust.md")]
pub struct EmbedPage;
