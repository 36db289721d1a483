//! The face of the library: [`build`], [`build_all`], [`Workspace`] and [`Output`].

use crate::diag::{Code, Error, Result, Warned, Warning};
use crate::load::{Common, Loader};
use crate::pipeline::{self, Built};
use crate::resource::{ResMap, Resource, check_printable, print, print_in_parts, print_in_pieces, print_one};
use crate::stage::history::{History, Write};
use crate::stage::{Context, Layers, Options};
use rustomize_base::observe::Work;
use rustomize_base::parallel;
use rustomize_yaml::emit::Part;
use rustomize_yaml::places::Places;
use rustomize_yaml::{Arenas, Heap, Place, Pos};
use std::any::Any;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory of builds: the texts of all files that they read, and of all that they make. It
/// outlives their [`Output`]s.
#[derive(Default)]
pub struct Workspace {
    heap: Heap,
}

impl Workspace {
    /// An empty workspace, whose builds may use all cores.
    pub fn new() -> Self {
        Workspace::default()
    }

    /// An empty workspace, whose builds may use `jobs` threads at once.
    pub fn with_jobs(jobs: NonZero<usize>) -> Self {
        Workspace { heap: Heap::with_jobs(Some(jobs)) }
    }
}

/// The resources of a build, in output order.
pub struct Output<'w> {
    cx: Rc<Context<'w>>,
    map: ResMap<'w>,
    history: Option<History<'w>>,
    findings: Vec<Warning>,
}

/// The resources of an [`Output`], for all threads.
#[derive(Clone, Copy)]
pub struct Printable<'o, 'w> {
    /// The resources, in output order.
    pub resources: &'o [Resource<'w>],
    /// The texts of the build.
    pub heap: &'w Heap,
    /// The number of threads that work on all resources is worth.
    pub threads: usize,
    arenas: Arenas<'w>,
}

impl<'w> Printable<'_, 'w> {
    /// Appends the bytes of a resource, as the content of a file of its own, and their parts.
    ///
    /// # Errors
    /// As [`Output::print`].
    pub fn print_in_parts(&self, resource: &Resource<'w>, out: &mut String, parts: &mut Vec<Part>) -> Result<()> {
        print_in_parts(self.arenas, resource, out, parts).map_err(|e| e.located(self.heap))
    }
}

impl<'w> Output<'w> {
    fn of(cx: Rc<Context<'w>>, built: Warned<Result<Built<'w>>>) -> Warned<Result<Output<'w>>> {
        let heap = cx.arena.heap();
        let value = built
            .value
            .map(|Built { map, history, findings }| {
                let mut findings = Warning::located(findings, heap);
                Warning::sort_by_place(&mut findings);
                Output { cx, map, history, findings }
            })
            .map_err(|e| e.located(heap));
        Warned { value, warnings: Warning::located(built.warnings, heap) }
    }

    /// Adds the place to the error of a failed print.
    fn printed<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|e| e.located(self.cx.arena.heap()))
    }

    /// The resources, in order.
    pub fn resources(&self) -> impl ExactSizeIterator<Item = &Resource<'w>> + Clone {
        self.map.iter()
    }

    /// The bytes that `kustomize build` prints. O(size of the text).
    ///
    /// # Errors
    /// A resource cannot be printed, for example because of a duplicate key. kustomize cannot print
    /// it either.
    pub fn print(&self) -> Result<String> {
        self.printed(print(self.cx.arena, &self.map))
    }

    /// The bytes that `kustomize build` prints, in pieces that follow each other: printed on all
    /// cores if they are many.
    ///
    /// # Errors
    /// As [`Output::print`].
    pub fn print_in_pieces(&self) -> Result<Vec<String>> {
        let _noted = self.cx.options.observer.begin(Work::Print, || "resources".to_owned());
        self.printed(print_in_pieces(self.cx.arena, &self.map))
    }

    /// Checks that every resource can be printed, without keeping the text. O(size of the text), on
    /// all cores if it is large.
    ///
    /// # Errors
    /// As [`Output::print`].
    pub fn check_printable(&self) -> Result<()> {
        let _noted = self.cx.options.observer.begin(Work::Print, || "resources".to_owned());
        self.printed(check_printable(self.cx.arena, &self.map))
    }

    /// The bytes of one resource, as the content of a file of its own.
    ///
    /// # Errors
    /// As [`Output::print`].
    pub fn print_one(&self, resource: &Resource<'w>) -> Result<String> {
        let mut text = String::new();
        self.printed(print_one(self.cx.arena.others(), resource, &mut text))?;
        Ok(text)
    }

    /// The resources, in order, for threads that share a work.
    pub fn printable(&self) -> Printable<'_, 'w> {
        let arena = self.cx.arena;
        let threads = arena.threads(arena.size());
        Printable { resources: self.map.as_slice(), heap: arena.heap(), arenas: arena.others(), threads }
    }

    /// Ends the build's plugins and removes its temporary files, and leaves the memory of the
    /// resources to the end of the process: freeing a million small lists one by one takes time.
    pub fn leave(self) {
        std::mem::forget((self.map, self.history));
    }

    /// Holds the resources to the schemas of their kinds. O(size of the trees).
    ///
    /// # Errors
    /// None today.
    pub fn check(&self, known: &crate::check::Known) -> Result<crate::check::Findings> {
        let heap = self.cx.arena.heap();
        let mut findings = crate::check::check(self.cx.arena, &self.map, known);
        findings.shown = Warning::located(findings.shown, heap);
        Ok(findings)
    }

    /// The writes of the build's steps, as [`History::writes`]; none unless [`Options::trace`] is
    /// set.
    ///
    /// ```
    /// use rustomize_engine::{Options, Workspace, build, load::Memory};
    ///
    /// let files = Memory::from_iter([
    ///     ("kustomization.yaml", "namePrefix: blue-\nresources: [service.yaml]\n"),
    ///     ("service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"),
    /// ]);
    /// let workspace = Workspace::new();
    /// let options = Options { trace: true, ..Options::default() };
    /// let output = build(&workspace, &files, ".", &options).value?;
    /// let write = output.writes().find(|write| &*write.path == "/metadata/name").unwrap();
    /// assert_eq!(write.step, "PrefixTransformer");
    /// assert_eq!((write.before, write.after), (Some("web"), Some("blue-web")));
    /// assert_eq!(output.place(write.entry).unwrap().to_string(), "kustomization.yaml:1:1");
    /// # Ok::<(), rustomize_engine::diag::Error>(())
    /// ```
    pub fn writes(&self) -> impl Iterator<Item = &Write<'w>> {
        self.history.iter().flat_map(History::writes)
    }

    /// The writes to one resource, under all names that it has had.
    pub fn history(&self, resource: &Resource<'w>) -> impl Iterator<Item = &Write<'w>> {
        self.history.iter().flat_map(|history| history.writes_of(resource.number()))
    }

    /// The trace of the build, if [`Options::trace`] asked for it.
    pub fn trace(&self) -> Option<&History<'w>> {
        self.history.as_ref()
    }

    /// Finds the places of many positions.
    pub fn places(&self) -> Places<'w> {
        Places::new(self.cx.arena.heap())
    }

    /// The entries without effect and likely mistakes, if [`Options::lint`] asked for them, in the
    /// order of files and lines.
    pub fn findings(&self) -> &[Warning] {
        &self.findings
    }

    /// The place in a file that a position stands for; `None` if the position is not in a
    /// file. O(log files + size of the file).
    pub fn place(&self, pos: Pos) -> Option<Place> {
        self.cx.arena.place(pos)
    }

    /// The local files that the build read, sorted. Files that plugins and helm read by themselves
    /// are missing, and so are files in clones of repositories.
    pub fn files(&self) -> Vec<PathBuf> {
        self.cx.files.read()
    }
}

/// Builds the kustomization in the directory `root` of a loader. Builds of one workspace know
/// nothing of each other.
///
/// # Errors
/// The input of the build is faulty, in any way. Then nothing is returned but the error.
pub fn build<'w>(
    workspace: &'w Workspace,
    loader: &'w dyn Loader,
    root: &str,
    options: &Options,
) -> Warned<Result<Output<'w>>> {
    let cx = Context::new(&workspace.heap, loader, options.clone());
    let built = pipeline::build(&cx, root);
    Output::of(cx, built)
}

/// Calls a plugin once, outside of a build, and returns the resources that it printed, handled as
/// in a build.
///
/// # Errors
/// The plugin does not exist, is not allowed to run, or fails.
pub fn call<'w>(
    workspace: &'w Workspace,
    loader: &'w dyn Loader,
    directory: &str,
    call: pipeline::Call<'_>,
    options: &Options,
) -> Warned<Result<Output<'w>>> {
    let cx = Context::new(&workspace.heap, loader, options.clone());
    let called = pipeline::call(&cx, directory, call);
    Output::of(cx, called)
}

/// The way in which [`build_all`] builds.
#[derive(Clone, Copy, Debug)]
pub struct Together {
    /// The number of threads that work at once.
    pub jobs: NonZero<usize>,
    /// True if the roots after a failed root are built, too.
    pub keep_going: bool,
}

/// Builds several roots, side by side. `options` returns the options of a root by its place in
/// `roots`. `finish` turns an output into the result of its root, such as its bytes, on the thread
/// that built the root. Results are in the order of the roots, whatever the number of threads. The
/// result of a root is `None` if a root before it failed, unless `keep_going` is set.
///
/// # Errors
/// Each root has its own. A panic in the build of a root is that root's error, in programs whose
/// panics unwind.
pub fn build_all<R: Send>(
    loader: &dyn Loader,
    roots: &[String],
    options: impl Fn(usize) -> Options + Sync,
    together: Together,
    finish: impl Fn(usize, Output<'_>) -> Result<R> + Sync,
) -> Vec<Option<Warned<Result<R>>>> {
    // The first root that failed so far. The roots before it are built in any case, so that the
    // reported errors do not depend on time.
    let failed = AtomicUsize::new(usize::MAX);
    if !roots.is_empty() {
        options(0).observer.expect_roots(roots.len());
    }
    let workers = together.jobs.get().min(roots.len()).max(1);
    let each = NonZero::new(together.jobs.get() / workers).unwrap_or(NonZero::<usize>::MIN);
    let workspace = Workspace::with_jobs(each);
    let shared = (roots.len() > 1).then(|| Shared::new(options(0)));
    let one = |i: usize| {
        if !together.keep_going && failed.load(Ordering::Relaxed) < i {
            return None;
        }
        let built = catch_unwind(AssertUnwindSafe(|| {
            let cx = context(&workspace, loader, options(i), shared.as_ref());
            let built = pipeline::build(&cx, &roots[i]);
            let Warned { value, warnings } = Output::of(cx, built);
            Warned { value: value.and_then(|output| finish(i, output)), warnings }
        }));
        let built = built.unwrap_or_else(|panic| Warned { value: Err(panicked(&*panic)), warnings: Vec::new() });
        if built.value.is_err() {
            failed.fetch_min(i, Ordering::Relaxed);
        }
        Some(built)
    };
    let places: Vec<usize> = (0..roots.len()).collect();
    let mut results: Vec<_> = parallel::each(&places, workers, |&i| one(i)).into_iter().collect();
    if !together.keep_going {
        // Roots behind the first failure may have been built before it failed.
        let first = failed.load(Ordering::Relaxed);
        results.iter_mut().skip(first.saturating_add(1)).for_each(|result| *result = None);
    }
    results
}

/// The data that the builds of several roots share.
struct Shared<'w> {
    /// The options of the first root.
    options: Options,
    common: Arc<Common<'w>>,
    layers: Arc<Layers<'w>>,
}

impl Shared<'_> {
    fn new(options: Options) -> Self {
        let common = Arc::new(Common::new(&options.remote, options.observer.clone()));
        let layers = Arc::new(Layers::new(options.compat));
        Shared { options, common, layers }
    }

    /// Returns true if a build with these options reads the same files in the same way.
    fn fits(&self, options: &Options) -> bool {
        let reads = |options: &Options| (options.compat, options.restrictor, options.file_limit);
        reads(&self.options) == reads(options) && self.options.remote.is_like(&*options.remote)
    }
}

/// The input of one of several builds.
fn context<'w>(
    workspace: &'w Workspace,
    loader: &'w dyn Loader,
    options: Options,
    shared: Option<&Shared<'w>>,
) -> Rc<Context<'w>> {
    match shared.filter(|shared| shared.fits(&options)) {
        Some(Shared { common, layers, .. }) => {
            Context::sharing(&workspace.heap, loader, options, Arc::clone(common), Arc::clone(layers))
        }
        None => Context::new(&workspace.heap, loader, options),
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let message = text.map_or_else(
        || "the build panicked without a message".to_owned(),
        |text| format!("the build panicked: {text}"),
    );
    let error = Error::new(Code::Internal, message);
    error.hint("this is a fault of the program: please report it")
}
