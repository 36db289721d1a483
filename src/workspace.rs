//! The face of the library: [`build`], [`Workspace`] and [`Output`].

use crate::diag::{Result, Warned};
use crate::load::Loader;
use crate::pipeline;
use crate::resource::{ResMap, Resource, print, print_in_pieces};
use crate::stage::{Context, Options};
use crate::yaml::Arena;

/// The memory of builds: the texts of all files that they read, and of all that they make. It
/// outlives their [`Output`]s.
#[derive(Default)]
pub struct Workspace {
    arena: Arena,
}

impl Workspace {
    /// Nothing was read yet.
    pub fn new() -> Self {
        Workspace::default()
    }
}

/// The resources of a build, in output order.
pub struct Output<'w> {
    arena: &'w Arena,
    map: ResMap<'w>,
}

impl<'w> Output<'w> {
    /// The resources, in order.
    pub fn resources(&self) -> impl ExactSizeIterator<Item = &Resource<'w>> {
        self.map.iter()
    }

    /// The bytes that `kustomize build` prints. O(size of the text).
    ///
    /// # Errors
    /// A resource that kustomize cannot print either, such as one with a key that stands twice.
    pub fn print(&self) -> Result<String> {
        print(self.arena, &self.map)
    }

    /// The bytes that `kustomize build` prints, in pieces that follow each other: printed on all
    /// cores if they are many.
    ///
    /// # Errors
    /// As [`Output::print`].
    pub fn print_in_pieces(&self) -> Result<Vec<String>> {
        print_in_pieces(self.arena, &self.map)
    }
}

/// Builds the kustomization in the directory `root` of a loader. Builds of one workspace know
/// nothing of each other.
///
/// # Errors
/// Anything that a user can have wrong. There is no output then.
pub fn build<'w>(
    workspace: &'w Workspace,
    loader: &'w dyn Loader,
    root: &str,
    options: &Options,
) -> Warned<Result<Output<'w>>> {
    let arena = &workspace.arena;
    let cx = Context::new(arena, loader, options.clone());
    let built = pipeline::build(&cx, root);
    Warned { value: built.value.map(|map| Output { arena, map }), warnings: built.warnings }
}
