//! Trees of files: layers of kustomizations, written to disk, to a server or to a case, and made
//! smaller.

use super::value::{V, m, one, s, smaller_list};
use super::write;
use crate::support::reference::Files;
use fastrand::Rng;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// How a file as a whole is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileMark {
    /// Lines end with CR and LF.
    Crlf,
    /// A byte order mark comes first.
    Bom,
    /// UTF-16, the little end first, with its mark.
    Utf16,
    /// `---` comes first.
    Start,
    /// `%YAML 1.1` and `---` come first.
    Directive,
    /// A comment comes first.
    Head,
    /// A comment comes last.
    Foot,
    /// Some documents are empty, or hold a comment alone.
    EmptyDocuments,
    /// `---` is followed by a comment.
    SeparatorComment,
    /// `...` ends the last document.
    End,
    /// The last line does not end with a line break.
    NoNewLine,
    /// Tabs and spaces stand at the ends of lines.
    Blanks,
}

/// The content of a file.
#[derive(Clone, Debug)]
pub enum Content {
    Documents(Vec<V>),
    Text(String),
}

/// A file beside a kustomization.
#[derive(Clone, Debug)]
pub struct File {
    pub name: String,
    pub content: Content,
    pub marks: Vec<FileMark>,
}

impl File {
    pub fn documents(name: impl Into<String>, documents: Vec<V>) -> File {
        File { name: name.into(), content: Content::Documents(documents), marks: Vec::new() }
    }

    pub fn text(name: impl Into<String>, text: impl Into<String>) -> File {
        File { name: name.into(), content: Content::Text(text.into()), marks: Vec::new() }
    }

    fn bytes(&self) -> Vec<u8> {
        let has = |mark| self.marks.contains(&mark);
        let text = match &self.content {
            Content::Text(text) => text.clone(),
            Content::Documents(all) => self.yaml(all),
        };
        let text = if has(FileMark::Crlf) { text.replace('\n', "\r\n") } else { text };
        if has(FileMark::Utf16) {
            let units = std::iter::once(0xfeff).chain(text.encode_utf16());
            return units.flat_map(u16::to_le_bytes).collect();
        }
        if has(FileMark::Bom) { format!("\u{feff}{text}").into_bytes() } else { text.into_bytes() }
    }

    fn yaml(&self, all: &[V]) -> String {
        let mut out = String::new();
        for (i, document) in all.iter().enumerate() {
            for mark in &self.marks {
                match mark {
                    FileMark::Start if i == 0 => out.push_str("---\n"),
                    FileMark::Directive if i == 0 => out.push_str("%YAML 1.1\n---\n"),
                    FileMark::Head => out.push_str("# A file: with \"signs\"\n\n"),
                    _ => {}
                }
            }
            if i > 0 {
                out.push_str(match self.marks.contains(&FileMark::SeparatorComment) {
                    true => "--- # next\n",
                    false => "---\n",
                });
            }
            out.push_str(&write::document(document));
            if self.marks.contains(&FileMark::EmptyDocuments) {
                out.push_str(["---\n", "---\n# nothing\n---\n---\n"][i % 2]);
            }
        }
        for mark in &self.marks {
            match mark {
                FileMark::Foot => out.push_str("  # the end\n# of all\n"),
                FileMark::End => out.push_str("...\n"),
                FileMark::NoNewLine => out.truncate(out.trim_end_matches('\n').len()),
                FileMark::Blanks => out = out.replacen(":\n", ": \t\n", 3).replacen("\n---", "\n  \n---", 1),
                _ => {}
            }
        }
        out
    }

    /// Takes all comments away but those in texts.
    fn remove_comments(&mut self) {
        let is_comment = |mark: &FileMark| {
            matches!(mark, FileMark::Head | FileMark::Foot | FileMark::SeparatorComment | FileMark::EmptyDocuments)
        };
        self.marks.retain(|mark| !is_comment(mark));
        if let Content::Documents(all) = &mut self.content {
            all.iter_mut().for_each(V::remove_comments);
        }
    }

    fn smaller(&self) -> Vec<File> {
        let mut all = Vec::new();
        for i in 0..self.marks.len() {
            let mut file = self.clone();
            file.marks.remove(i);
            all.push(file);
        }
        if let Content::Documents(documents) = &self.content {
            let less = smaller_list(documents, 1).into_iter();
            all.extend(less.map(|d| File { content: Content::Documents(d), ..self.clone() }));
        }
        all
    }
}

/// A kustomization or component: its directory, its fields, its files.
#[derive(Clone, Debug)]
pub struct Layer {
    pub name: String,
    pub is_component: bool,
    /// One document, the fields of the kustomization.
    pub kustomization: File,
    pub files: Vec<File>,
}

impl Layer {
    /// The fields, which are a mapping.
    pub fn fields(&mut self) -> &mut Vec<(String, V)> {
        match &mut self.kustomization.content {
            Content::Documents(all) => match all[0].bare_mut() {
                V::M(fields) => fields,
                _ => unreachable!("a kustomization is a mapping"),
            },
            Content::Text(_) => unreachable!("a kustomization is a document"),
        }
    }

    fn smaller(&self) -> Vec<Layer> {
        let mut all = Vec::new();
        for i in 0..self.files.len() {
            let mut layer = self.clone();
            layer.files.remove(i);
            all.push(layer);
        }
        all.extend(self.kustomization.smaller().into_iter().map(|k| Layer { kustomization: k, ..self.clone() }));
        for (i, file) in self.files.iter().enumerate() {
            for file in file.smaller() {
                let mut layer = self.clone();
                layer.files[i] = file;
                all.push(layer);
            }
        }
        all
    }
}

/// Layers; the last one is the root of the build.
#[derive(Clone, Debug)]
pub struct Tree(pub Vec<Layer>);

impl Tree {
    /// All files, by their absolute paths.
    pub fn files(&self) -> Files {
        let mut all = Files::new();
        for layer in &self.0 {
            let mut layer = layer.clone();
            if layer.is_component {
                let head = [("apiVersion", "kustomize.config.k8s.io/v1alpha1"), ("kind", "Component")];
                let head = head.map(|(k, v)| (k.to_owned(), s(v)));
                layer.fields().splice(0..0, head);
            }
            for file in layer.files.iter().chain([&layer.kustomization]) {
                all.insert(format!("/{}/{}", layer.name, file.name), file.bytes());
            }
        }
        all
    }

    /// Returns true if the resources may have no legacy order: kustomize puts the core Namespace
    /// before those of other groups, also where lists of its own leave Namespaces among other kinds.
    /// Then a sort of Go decides (docs/compatibility.md).
    pub fn has_no_order(&self) -> bool {
        let files = self.files();
        let has = |words: &str| files.values().any(|text| String::from_utf8_lossy(text).contains(words));
        has("legacySortOptions") && has("Namespace") && has("example.com/v1")
    }

    /// Returns true if a layer has to be on disk.
    pub fn needs_disk(&self) -> bool {
        self.0.iter().any(super::shape::versions::needs_disk)
    }

    /// The directory of the root, as an absolute path.
    pub fn root(&self) -> String {
        format!("/{}", self.0.last().unwrap().name)
    }

    /// Writes the tree below a directory, and gives the directory of its root.
    pub fn write(&self, directory: &Path) -> String {
        for (name, bytes) in self.files() {
            let path = directory.join(&name[1..]);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        directory.join(&self.root()[1..]).to_string_lossy().into_owned()
    }

    /// The tree as a case of testdata.
    pub fn txtar(&self, head: &str) -> String {
        let mut out = format!("{head}\n-- args --\nbuild {}\n", &self.root()[1..]);
        for (name, bytes) in self.files() {
            let _ = write!(out, "-- {} --\n{}", &name[1..], String::from_utf8_lossy(&bytes));
            if !bytes.ends_with(b"\n") {
                out.push_str("<no end of line>\n");
            }
        }
        out
    }

    /// Every tree that is this one less one thing, the large things first.
    pub fn smaller(&self) -> Vec<Tree> {
        let mut all = Vec::new();
        for i in 0..self.0.len().saturating_sub(1) {
            let mut tree = self.clone();
            let gone = tree.0.remove(i).name;
            tree.forget(&format!("../{gone}"));
            all.push(tree);
        }
        for (i, layer) in self.0.iter().enumerate() {
            for layer in layer.smaller() {
                // A root is a mapping, whatever else becomes smaller.
                let is_mapping = match &layer.kustomization.content {
                    Content::Documents(all) => matches!(all[0].bare(), V::M(_)),
                    Content::Text(_) => false,
                };
                if is_mapping {
                    let mut tree = self.clone();
                    tree.0[i] = layer;
                    all.push(tree);
                }
            }
        }
        all
    }

    /// This tree without half of what its kustomizations do, and without half of the marks of its
    /// files.
    pub fn thinned(&self, rng: &mut Rng) -> Tree {
        let mut tree = self.clone();
        for layer in &mut tree.0 {
            let stays = |name: &str| matches!(name, "resources" | "components" | "bases");
            layer.fields().retain(|(name, _)| stays(name) || rng.bool());
            for file in layer.files.iter_mut().chain([&mut layer.kustomization]) {
                file.marks.retain(|_| rng.bool());
            }
        }
        tree
    }

    /// This tree without its comments.
    pub fn without_comments(&self) -> Tree {
        let mut tree = self.clone();
        for layer in &mut tree.0 {
            layer.files.iter_mut().chain([&mut layer.kustomization]).for_each(File::remove_comments);
        }
        tree
    }

    /// This tree without the lines of its resources that are comments, and without the empty lines
    /// behind each, which could become lines of the text in front of the comment.
    pub fn without_comment_lines(&self) -> Tree {
        let mut tree = self.clone();
        for file in tree.0.iter_mut().flat_map(|layer| &mut layer.files) {
            let Ok(text) = String::from_utf8(file.bytes()) else { continue };
            let mut is_behind = false;
            let lines = text.split_inclusive('\n').filter(|line| {
                let content = line.trim();
                is_behind = content.starts_with('#') || (is_behind && content.is_empty());
                !is_behind
            });
            *file = File::text(file.name.clone(), lines.collect::<String>());
        }
        tree
    }

    /// Takes a path out of all lists of resources and components.
    fn forget(&mut self, path: &str) {
        for layer in &mut self.0 {
            for (_, value) in layer.fields() {
                if let V::L(items) = value.bare_mut() {
                    items.retain(|item| !matches!(item.bare(), V::S(text) if text == path));
                }
            }
        }
    }
}

#[test]
fn a_tree_becomes_smaller_until_nothing_is_left_to_take() {
    let widget = m(vec![("kind", s("Widget")), ("spec", m(vec![("list", one(s("1_000")))]))]);
    let fields = m(vec![("resources", one(s("r.yaml")))]);
    let layer = |name: &str, fields: &V| Layer {
        name: name.to_owned(),
        is_component: false,
        kustomization: File::documents("kustomization.yaml", vec![fields.clone()]),
        files: vec![File::documents("r.yaml", vec![widget.clone()])],
    };
    let mut tree = Tree(vec![layer("a", &fields), layer("b", &fields)]);
    // The tree shrinks as long as any file has a list.
    let has_list = |tree: &Tree| tree.txtar("").contains("list:\n");
    while let Some(smaller) = tree.smaller().into_iter().find(has_list) {
        tree = smaller;
    }
    assert_eq!(tree.0.len(), 1);
    assert!(tree.txtar("").contains("spec:\n  list:\n    - x\n"), "{}", tree.txtar(""));
    assert!(!tree.txtar("").contains("Widget"));
}
