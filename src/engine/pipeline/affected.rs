//! Finds the roots whose results may depend on files that have changed, for `--affected-by`.
//! Nothing is built and no plugin runs.
//!
//! A root depends on a file if its kustomization, or that of a base or component below it, is the
//! file or names it: in any field, as the value behind `key=`, or in the configuration of a
//! generator, transformer or validator. A directory without a kustomization, such as a helm chart,
//! is named with all that is below it. A file that was deleted is named like any other.

use super::glance::documents_of;
use super::roots::FoundRoot;
use crate::load::kustomization_file::{self, FILE_NAMES};
use crate::load::{FileLimit, Loader, clean};
use hashbrown::{HashMap, HashSet};
use rustomize_yaml::{Node, Value};
use std::collections::BTreeSet;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The fields whose entries are configurations of plugins, which may name files.
const CONFIGURATIONS: [&str; 3] = ["generators", "transformers", "validators"];

/// The fields whose entries are files or directories with resources.
const RESOURCES: [&str; 2] = ["resources", "bases"];

/// The files that say which plugins the roots below their directory use.
const PLUGIN_FILES: [&str; 2] = ["plugins.yaml", "plugins.lock"];

/// The roots that may depend on one of the files. O(entries and texts of the kustomizations and
/// configurations that the roots lead to, times the logarithm of the number of files).
pub fn affected(
    loader: &dyn Loader,
    roots: Vec<FoundRoot>,
    changed: impl IntoIterator<Item = PathBuf>,
    limit: FileLimit,
) -> Vec<FoundRoot> {
    let changed: BTreeSet<PathBuf> = changed.into_iter().map(|file| place(loader, &file)).collect();
    let is_plugin_file = |file: &&PathBuf| PLUGIN_FILES.iter().any(|name| file.ends_with(name));
    let plugins: HashSet<PathBuf> =
        changed.iter().filter(is_plugin_file).filter_map(|file| Some(file.parent()?.to_owned())).collect();
    let mut graph = Graph::new(loader, limit, changed);
    let starts: Vec<Option<usize>> = roots
        .iter()
        .map(|root| loader.directory(Path::new(&root.path)).ok().and_then(|directory| graph.layer(&directory)))
        .collect();
    graph.read_all();
    let touched = graph.touched();
    let is_affected = |start: Option<usize>| {
        // A root that cannot be looked at is left to its build, which says why.
        start.is_none_or(|i| touched[i] || graph.directories[i].ancestors().any(|above| plugins.contains(above)))
    };
    roots.into_iter().zip(starts).filter(|(_, start)| is_affected(*start)).map(|(root, _)| root).collect()
}

/// The place of a file, whether it exists or not: links in the directories above it are followed as
/// far as they exist.
fn place(loader: &dyn Loader, file: &Path) -> PathBuf {
    let mut below: Vec<&std::ffi::OsStr> = Vec::new();
    let mut above = file;
    let directory = loop {
        below.extend(above.file_name());
        above = above.parent().unwrap_or(Path::new(""));
        match loader.directory(if above.as_os_str().is_empty() { Path::new(".") } else { above }) {
            Ok(directory) => break directory,
            Err(_) if above.parent().is_none() => break above.to_owned(),
            Err(_) => {}
        }
    };
    below.into_iter().rev().fold(directory, |path, name| path.join(name))
}

/// The kustomizations that roots lead to.
struct Graph<'l> {
    loader: &'l dyn Loader,
    limit: FileLimit,
    changed: BTreeSet<PathBuf>,
    /// The directory of each layer.
    directories: Vec<PathBuf>,
    /// The kustomization file of each layer.
    files: Vec<PathBuf>,
    by_directory: HashMap<PathBuf, Option<usize>>,
    /// For each layer: true if its own texts name a changed file.
    names_changed: Vec<bool>,
    /// The layers that name a layer.
    users: Vec<Vec<usize>>,
    /// The texts of each configuration that was read.
    configurations: HashMap<PathBuf, Rc<Texts>>,
}

/// The texts of a file.
#[derive(Default)]
struct Texts {
    /// The texts without a line break.
    lines: Vec<String>,
    /// The words of those with several words.
    words: Vec<String>,
}

impl<'l> Graph<'l> {
    fn new(loader: &'l dyn Loader, limit: FileLimit, changed: BTreeSet<PathBuf>) -> Self {
        Graph {
            loader,
            limit,
            changed,
            directories: Vec::new(),
            files: Vec::new(),
            by_directory: HashMap::new(),
            names_changed: Vec::new(),
            users: Vec::new(),
            configurations: HashMap::new(),
        }
    }

    /// Returns the layer of a directory, `None` for a directory without a kustomization.
    fn layer(&mut self, directory: &Path) -> Option<usize> {
        if let Some(known) = self.by_directory.get(directory) {
            return *known;
        }
        let layer = kustomization_file::name_in(self.loader, directory).map(|name| {
            self.directories.push(directory.to_owned());
            self.files.push(directory.join(name));
            self.users.push(Vec::new());
            self.directories.len() - 1
        });
        self.by_directory.insert(directory.to_owned(), layer);
        layer
    }

    /// Reads each layer, those that are found on the way included.
    fn read_all(&mut self) {
        while self.names_changed.len() < self.directories.len() {
            let i = self.names_changed.len();
            let directory = self.directories[i].clone();
            let is_changed = FILE_NAMES.iter().any(|name| self.changed.contains(&directory.join(name)));
            let names_changed = self.read(i, &directory);
            self.names_changed.push(is_changed || names_changed);
        }
    }

    /// Reads a layer: remembers the layers that it names, and returns whether it names a changed
    /// file.
    fn read(&mut self, i: usize, directory: &Path) -> bool {
        let mut texts = Texts::default();
        let mut configurations = Vec::new();
        documents_of(self.loader, &self.files[i], self.limit, |node| {
            texts.add(node);
            configurations.extend(entries(node, &CONFIGURATIONS));
            if node.get("helmCharts").is_some() {
                texts.lines.push("charts".to_owned());
            }
        });
        let mut seen = HashSet::new();
        let mut found = self.names_of(&texts, directory, i);
        let mut queue: Vec<(PathBuf, String)> =
            configurations.into_iter().map(|entry| (directory.to_owned(), entry)).collect();
        while let Some((base, entry)) = queue.pop() {
            if entry.contains('\n') {
                continue;
            }
            let path = joined(&base, &entry);
            if !seen.insert(path.clone()) {
                continue;
            }
            let Ok(place) = self.loader.directory(&path) else {
                // Its names begin at the directory of the layer that uses it.
                let texts = self.configuration(&path);
                found |= self.names_of(&texts, directory, i);
                continue;
            };
            if let Some(layer) = self.layer(&place) {
                documents_of(self.loader, &self.files[layer], self.limit, |node| {
                    queue.extend(entries(node, &RESOURCES).into_iter().map(|entry| (place.clone(), entry)));
                });
            }
        }
        found
    }

    /// The texts of a configuration, which many roots may use.
    fn configuration(&mut self, path: &Path) -> Rc<Texts> {
        if let Some(known) = self.configurations.get(path) {
            return Rc::clone(known);
        }
        let mut texts = Texts::default();
        documents_of(self.loader, path, self.limit, |node| texts.add(node));
        let texts = Rc::new(texts);
        self.configurations.insert(path.to_owned(), Rc::clone(&texts));
        texts
    }

    /// Returns true if texts of a layer name a changed file. Remembers the layers that they name.
    fn names_of(&mut self, texts: &Texts, directory: &Path, user: usize) -> bool {
        let mut found = false;
        for line in &texts.lines {
            let value = line.split_once('=').map(|(_, value)| value);
            for name in [Some(line.as_str()), value].into_iter().flatten() {
                found |= self.is_changed(directory, name, Some(user));
            }
        }
        for word in &texts.words {
            found |= self.is_changed(directory, word, None);
        }
        found
    }

    /// Returns true for the name of a changed file, or of a directory with changed files and
    /// without a kustomization. With a user, links are followed and layers are remembered.
    fn is_changed(&mut self, directory: &Path, name: &str, user: Option<usize>) -> bool {
        let path = joined(directory, name);
        if directory.starts_with(&path) {
            return false;
        }
        let Some(user) = user else { return self.has_changed(&path) };
        if let Ok(place) = self.loader.directory(&path) {
            return match self.layer(&place) {
                Some(layer) => {
                    self.users[layer].push(user);
                    false
                }
                None => !directory.starts_with(&place) && self.has_changed(&place),
            };
        }
        let opened = self.loader.open(&path).ok().map(|opened| opened.place);
        self.has_changed(&path) || opened.is_some_and(|place| self.changed.contains(&place))
    }

    /// Returns true if a path, or a file below it, has changed.
    fn has_changed(&self, path: &Path) -> bool {
        let first = self.changed.range::<Path, _>((Bound::Included(path), Bound::Unbounded)).next();
        first.is_some_and(|file| file.starts_with(path))
    }

    /// For each layer: true if it, or a layer below it, names a changed file.
    fn touched(&self) -> Vec<bool> {
        let mut touched = self.names_changed.clone();
        let mut queue: Vec<usize> = (0..touched.len()).filter(|&i| touched[i]).collect();
        while let Some(i) = queue.pop() {
            for &user in &self.users[i] {
                if !std::mem::replace(&mut touched[user], true) {
                    queue.push(user);
                }
            }
        }
        touched
    }
}

impl Texts {
    /// Adds the texts of a document.
    fn add(&mut self, node: &Node<'_>) {
        let mut queue = vec![node];
        while let Some(node) = queue.pop() {
            match node.value() {
                Value::Scalar(scalar) => self.add_text(scalar.text()),
                Value::Sequence(items) => queue.extend(items.iter()),
                Value::Mapping(mapping) => queue.extend(mapping.iter().map(|entry| entry.value())),
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        let text = text.trim();
        if text.contains(char::is_whitespace) {
            let bare = |word: &str| word.trim_matches(['[', ']', '{', '}', ',', '"', '\'']).to_owned();
            self.words.extend(text.split_whitespace().map(bare).filter(|word| !word.is_empty()));
        }
        if !text.is_empty() && !text.contains('\n') && !text.contains("://") {
            self.lines.push(text.to_owned());
        }
    }
}

/// The texts in the lists of some fields.
fn entries(node: &Node<'_>, fields: &[&str]) -> Vec<String> {
    let items = fields.iter().filter_map(|field| node.get(field).and_then(Node::as_sequence)).flatten();
    items.filter_map(|item| item.as_scalar()).map(|scalar| scalar.text().to_owned()).collect()
}

fn joined(directory: &Path, name: &str) -> PathBuf {
    clean(&directory.join(name).to_string_lossy()).into()
}

#[cfg(test)]
mod tests {
    use super::affected;
    use crate::load::loader::{Entry, Loader, NotOpened, Opened};
    use crate::load::{FileLimit, Memory};
    use crate::pipeline::roots::find;
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// The roots of a forest that a file affects.
    fn of(files: &dyn Loader, changed: &[&str]) -> Vec<String> {
        let roots = find(files, ".", FileLimit::default()).unwrap();
        let found = affected(files, roots, changed.iter().map(PathBuf::from), FileLimit::default());
        found.into_iter().map(|root| root.path).collect()
    }

    fn forest() -> Memory {
        Memory::from_iter([
            ("base/kustomization.yaml", "resources: [service.yaml, gone.yaml]\n"),
            ("base/service.yaml", "kind: Service\n"),
            ("base/README.md", "words\n"),
            ("part/kustomization.yaml", "kind: Component\npatches: [{path: 'a b.yaml'}]\n"),
            ("part/a b.yaml", "kind: Service\n"),
            (
                "north/kustomization.yaml",
                "resources: [../base]\nconfigMapGenerator: [{files: [key=app.ini], envs: [e.env]}]\n",
            ),
            ("north/app.ini", "a=b\n"),
            ("north/e.env", "a=b\n"),
            ("south/Kustomization", "resources: [../base/]\ncomponents: [../part]\nnamePrefix: /\n"),
            ("chart/kustomization.yaml", "helmCharts: [{name: web, valuesFile: values.yaml}]\n"),
            ("chart/charts/web/Chart.yaml", "name: web\n"),
            ("chart/values.yaml", "a: b\n"),
            (
                "made/kustomization.yaml",
                "generators: [gen.yaml, ../shared]\ntransformers:\n- |-\n  kind: T\n  path: [t.json]\n",
            ),
            (
                "made/gen.yaml",
                "kind: G\nmetadata: {annotations: {f: \"exec:\\n  path: ./run.sh\\n\"}}\nfiles: [secret.enc]\n",
            ),
            ("shared/kustomization.yaml", "resources: [config.yaml]\n"),
            ("shared/config.yaml", "kind: G\nargsOneLiner: -f own.txt\n"),
        ])
    }

    #[test]
    fn files_affect_the_roots_that_name_them() {
        let check = |changed: &[&str], roots: &[&str]| assert_eq!(of(&forest(), changed), roots, "{changed:?}");
        check(&["base/service.yaml"], &["base", "north", "south"]);
        check(&["base/kustomization.yaml"], &["base", "north", "south"]);
        check(&["base/gone.yaml"], &["base", "north", "south"]);
        check(&["base/README.md"], &[]);
        check(&["part/a b.yaml"], &["south"]);
        check(&["north/app.ini"], &["north"]);
        check(&["north/e.env"], &["north"]);
        check(&["chart/charts/web/templates/new.yaml"], &["chart"]);
        check(&["chart/values.yaml", "south/kustomization.yml"], &["chart", "south"]);
        check(&["made/secret.enc"], &["made"]);
        check(&["made/run.sh"], &["made"]);
        check(&["made/t.json"], &["made"]);
        check(&["made/own.txt"], &["made"]);
        check(&["shared/config.yaml"], &["made", "shared"]);
        check(&["north/plugins.lock"], &["north"]);
        check(&["plugins.yaml"], &["base", "chart", "made", "north", "shared", "south"]);
        check(&["none/at/all"], &[]);
        check(&[], &[]);
    }

    #[test]
    fn a_base_that_was_deleted_affects_its_users() {
        let mut files = forest();
        for file in ["base/kustomization.yaml", "base/service.yaml", "base/README.md"] {
            assert!(files.remove(file));
        }
        assert_eq!(of(&files, &["base/kustomization.yaml", "base/service.yaml"]), ["north", "south"]);
    }

    #[test]
    fn kustomizations_that_name_each_other_end() {
        let files = Memory::from_iter([
            ("a/kustomization.yaml", "resources: [../b, x.yaml]\ngenerators: [../b]\n"),
            ("b/kustomization.yaml", "resources: [../a]\ntransformers: [../a]\n"),
        ]);
        assert_eq!(of(&files, &["a/x.yaml"]), ["a", "b"]);
    }

    /// Counts the files that are opened.
    struct Counting(Memory, AtomicUsize);

    impl Loader for Counting {
        fn directory(&self, path: &Path) -> io::Result<PathBuf> {
            self.0.directory(path)
        }

        fn open(&self, path: &Path) -> Result<Opened, NotOpened> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.open(path)
        }

        fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
            self.0.list(directory)
        }
    }

    /// Roots over one base and one generator that they share: twice as many roots open twice as
    /// many files.
    #[test]
    fn the_work_grows_as_the_roots_do() {
        let opened = |n: usize| {
            let mut files = Memory::new();
            files.set("base/kustomization.yaml", "resources: [map.yaml]\n");
            files.set("gen.yaml", "kind: G\nfiles: [own.txt]\n");
            for i in 0..n {
                files.set(format!("r{i}/kustomization.yaml"), "resources: [../base]\ngenerators: [../gen.yaml]\n");
            }
            let counting = Counting(files, AtomicUsize::new(0));
            assert_eq!(of(&counting, &["base/map.yaml"]).len(), n + 1);
            counting.1.into_inner()
        };
        let (few, many) = (opened(100), opened(400));
        assert!(many <= 4 * few, "{few} files for 100 roots, {many} for 400");
    }
}
