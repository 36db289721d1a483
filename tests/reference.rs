//! Prints docs/reference from the sources: the documents of the stages, the docs of what users
//! write, and the examples that tests/suite.rs runs. `UPDATE=1 cargo test reference` writes the
//! pages; without it they must be what would be written.

use crate::support::{files, split};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The headings of a stage's document, in their order.
const HEADINGS: [&str; 10] =
    ["Fields", "Kinds", "Entry", "Reads", "Selects", "Writes", "Order", "Cost", "Quirks", "Example"];

/// What a page is made from.
struct Page {
    /// Name of the page and of its example.
    name: String,
    /// The source file, from the root of the project.
    source: String,
    title: String,
    summary: String,
    sections: BTreeMap<&'static str, String>,
}

/// A key of something that users write.
pub struct Key {
    pub name: String,
    value: String,
    doc: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The `//!` text at the start of a file.
fn module_doc(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(str::trim_start).collect::<Vec<_>>().join("\n")
}

/// Links into the code say nothing outside of it.
fn without_links(text: &str) -> String {
    let link = Regex::new(r"\[`(?:[a-z_]+::)*([^`\]]+)`\](?:\([^)]*\))?").unwrap();
    link.replace_all(text, "`$1`").into_owned()
}

/// With a capital letter in front, unless it starts with code.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|c| c.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn page(path: &Path) -> Option<Page> {
    let doc = module_doc(&fs::read_to_string(path).unwrap());
    let heading = Regex::new(r"\*([A-Z][a-z]+)\*:").unwrap();
    let found: Vec<_> = heading.captures_iter(&doc).map(|c| (c.get(0).unwrap().range(), c[1].to_owned())).collect();
    if !found.iter().any(|(_, name)| name == "Example") {
        return None;
    }
    let mut sections = BTreeMap::new();
    for (i, (range, name)) in found.iter().enumerate() {
        let place = HEADINGS.iter().position(|h| h == name);
        let place = place.unwrap_or_else(|| panic!("{}: '{name}' is no heading", path.display()));
        let end = found.get(i + 1).map_or(doc.len(), |(next, _)| next.start);
        let text = sentence(&without_links(doc[range.end..end].trim()));
        assert!(!text.is_empty(), "{}: nothing under '{name}'", path.display());
        assert!(sections.insert(HEADINGS[place], text).is_none(), "{}: '{name}' twice", path.display());
    }
    let source = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    for needed in ["Order", "Cost"] {
        assert!(sections.contains_key(needed), "{source} does not say '{needed}'");
    }
    let first = without_links(doc[..found[0].0.start].trim());
    let (title, summary) = first.split_once(": ").unwrap_or_else(|| panic!("{source}: no 'title: what it does'"));
    let summary = sentence(summary);
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    Some(Page { name, title: title.to_owned(), summary, source, sections })
}

/// The cases that a document speaks of, in brackets.
fn cases(page: &Page) -> Vec<String> {
    let bracket = Regex::new(r"\(([^()]*)\)").unwrap();
    let name = Regex::new(r"^[a-z0-9]+(-[a-z0-9]+)+$").unwrap();
    let texts = page
        .sections
        .values()
        .flat_map(|text| bracket.captures_iter(text).map(|c| c[1].to_owned()).collect::<Vec<_>>());
    let words: Vec<String> = texts.flat_map(|t| t.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
    words.into_iter().filter(|word| name.is_match(word)).collect()
}

/// The words in backticks of a section.
fn words(page: &Page, section: &str) -> Vec<String> {
    let word = Regex::new("`([^`]+)`").unwrap();
    let text = page.sections.get(section).map_or("", String::as_str);
    word.captures_iter(text).map(|c| c[1].to_owned()).collect()
}

/// The text from a line to the closing brace in the first column.
fn block<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let from = text.find(start)?;
    let end = text[from..].find("\n}")?;
    Some(&text[from..from + end])
}

/// A Rust type in the words of YAML, with the name of the type below, if it has one of its own.
fn value_of(ty: &str) -> String {
    let ty = ty.trim().trim_end_matches(',').replace("<'a>", "");
    let inner = |wrapper: &str| ty.strip_prefix(wrapper).and_then(|t| t.strip_suffix('>')).map(value_of);
    match ty.as_str() {
        "&'a str" | "Written" => "text".to_owned(),
        "bool" => "true or false".to_owned(),
        "i64" => "number".to_owned(),
        "StringMap" => "texts by keys".to_owned(),
        "Node" => "anything".to_owned(),
        _ => match (inner("Vec<"), inner("Option<")) {
            (Some(item), _) => format!("list of {item}"),
            (_, Some(value)) => value,
            _ => format!("[{ty}](#{})", ty.to_lowercase()),
        },
    }
}

/// The `///` docs and types of a struct's public fields.
fn fields_of(text: &str, name: &str) -> Option<BTreeMap<String, (String, String)>> {
    let body =
        block(text, &format!("pub struct {name}<'a> {{")).or_else(|| block(text, &format!("pub struct {name} {{")))?;
    let mut fields = BTreeMap::new();
    let mut doc = Vec::new();
    for line in body.lines().skip(1).map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            doc.push(text.trim());
        } else if let Some((field, ty)) = line.trim_start_matches("pub ").split_once(':') {
            fields
                .insert(field.to_owned(), (without_links(&doc.join(" ")), ty.trim().trim_end_matches(',').to_owned()));
            doc.clear();
        }
    }
    Some(fields)
}

/// What users write for a type: its keys in the order in which they are read.
fn keys(name: &str) -> Vec<Key> {
    let key = Regex::new(r#"\("([A-Za-z0-9]+)", &mut self\.([a-z_]+)(\.[a-z_]+)?\)"#).unwrap();
    let sources = ["config", "transformer", "generator"].map(|folder| files(&root().join("src").join(folder), ".rs"));
    for path in sources.iter().flatten() {
        let text = fs::read_to_string(path).unwrap();
        let Some(fields) = fields_of(&text, name) else { continue };
        let readers = [
            format!("impl<'a> Decode<'a> for {name}<'a> {{"),
            format!("impl<'a> Decode<'a> for {name} {{"),
            format!("impl<'a> {name}<'a> {{"),
        ];
        let reader: String = readers.iter().filter_map(|start| block(&text, start)).collect();
        let mut keys: Vec<Key> = Vec::new();
        for found in key.captures_iter(&reader) {
            let (doc, ty) = &fields[&found[2]];
            assert!(!doc.is_empty(), "{}: {name}.{} has no doc", path.display(), &found[2]);
            let value = if found.get(3).is_some() { "text".to_owned() } else { value_of(ty) };
            if keys.last().is_some_and(|last| last.doc == *doc) {
                let last = keys.last_mut().unwrap();
                let _ = write!(last.name, "`, `{}", &found[1]);
                continue;
            }
            keys.push(Key { name: found[1].to_owned(), value, doc: doc.clone() });
        }
        if keys.is_empty() {
            // Read as a map of texts: the keys are called as the fields.
            let text_of = |(name, (doc, ty)): (String, (String, String))| Key { name, value: value_of(&ty), doc };
            keys = fields.into_iter().filter(|(name, _)| name != "pos").map(text_of).collect();
        }
        return keys;
    }
    panic!("there is no {name}");
}

/// The fields of a kustomization with their docs, in the order in which they are read.
pub fn kustomization() -> Vec<Key> {
    let text = read("src/config/kustomization.rs");
    let fields = fields_of(&text, "Kustomization").unwrap();
    let key = Regex::new(r#"\("([A-Za-z0-9]+)", &mut (?:ForBuiltin\(&mut )?(k\.)?([a-z0-9_]+)\)"#).unwrap();
    let reader = block(&text, "    pub fn from_node").unwrap();
    let reader = &reader[..reader.find(")?;").unwrap()];
    let one = |found: regex::Captures<'_>| {
        let (doc, value) = match found.get(2) {
            Some(_) => (fields[&found[3]].0.clone(), String::new()),
            // An old spelling: the comment above its variable.
            None => {
                let at = text.find(&format!("let mut {}:", &found[3])).unwrap();
                let comment = text[..at].trim_end().lines().last().unwrap().trim();
                (comment.strip_prefix("// ").unwrap_or_default().to_owned(), String::new())
            }
        };
        assert!(!doc.is_empty(), "the field {} has no doc", &found[1]);
        Key { name: found[1].to_owned(), value, doc }
    };
    key.captures_iter(reader).map(one).collect()
}

/// The kinds that configuration objects can ask for.
pub fn builtin_kinds() -> BTreeSet<String> {
    let text = read("src/pipeline/builtin.rs");
    let lists = ["const GENERATORS", "const TRANSFORMERS"].map(|start| {
        let from = text.find(start).unwrap();
        &text[from..from + text[from..].find("];").unwrap()]
    });
    let kind = Regex::new(r#""([A-Za-z0-9]+)""#).unwrap();
    lists.iter().flat_map(|list| kind.captures_iter(list).map(|c| c[1].to_owned()).collect::<Vec<_>>()).collect()
}

fn example(page: &Page) -> String {
    let path = format!("testdata/reference/{}.txtar", page.name);
    assert_eq!(
        words(page, "Example"),
        std::slice::from_ref(&path),
        "{}: the example has the name of the page",
        page.source
    );
    let (head, files) = split(&read(&path));
    let mut out = format!("\n## Example\n\n{}\n", head.trim());
    for (name, text) in files.iter().filter(|(name, _)| !matches!(name.as_str(), "args" | "env" | "stdout")) {
        let language = if text.starts_with("#!") { "sh" } else { name.rsplit('.').next().unwrap_or_default() };
        let _ = write!(out, "\n`{name}`:\n\n```{language}\n{text}```\n");
    }
    let of = |name: &str| files.iter().find(|(n, _)| n == name).map_or("", |(_, text)| text.as_str());
    let args = if of("args").is_empty() { "build" } else { of("args").trim() };
    let _ = write!(out, "\n`rustomize {args}` prints:\n\n```yaml\n{}```\n", of("stdout"));
    out
}

fn markdown(page: &Page, fields: &BTreeMap<String, String>) -> String {
    let mut out =
        format!("<!-- Printed from {} by the test `reference`: UPDATE=1 cargo test reference -->\n", page.source);
    let _ = write!(out, "\n# {}\n\n{}\n", page.title, page.summary);
    let named = words(page, "Fields");
    if !named.is_empty() {
        out.push_str("\n| field of kustomization.yaml | |\n|---|---|\n");
        for name in named {
            let doc = fields.get(&name).unwrap_or_else(|| panic!("{}: there is no field {name}", page.source));
            let _ = writeln!(out, "| `{name}` | {doc} |");
        }
    }
    if let Some(kinds) = page.sections.get("Kinds") {
        let _ = write!(out, "\nAs a configuration object, with `apiVersion: builtin`: {kinds}\n");
    }
    for heading in ["Reads", "Selects", "Writes", "Order", "Cost", "Quirks"] {
        if let Some(text) = page.sections.get(heading) {
            let _ = write!(out, "\n## {heading}\n\n{text}\n");
        }
    }
    for name in words(page, "Entry") {
        let _ = write!(out, "\n## {name}\n\n| key | value | |\n|---|---|---|\n");
        for Key { name, value, doc } in keys(&name) {
            let _ = writeln!(out, "| `{name}` | {value} | {doc} |");
        }
    }
    out + &example(page)
}

fn index(pages: &[Page], fields: &[Key]) -> String {
    let mut out = "<!-- Printed by the test `reference`: UPDATE=1 cargo test reference -->\n\n# Reference\n\nEvery field of a \
                   kustomization and every built-in kind, with an example that the tests run. The pages are printed from the \
                   sources.\n\n## Fields of kustomization.yaml\n\n| field | | page |\n|---|---|---|\n"
        .to_owned();
    let page_of = |section: &str, word: &str| {
        let mut of = pages.iter().filter(|page| words(page, section).iter().any(|w| w == word));
        let page = of.next().unwrap_or_else(|| panic!("no document has `{word}` under '{section}'"));
        assert!(of.next().is_none(), "two documents have `{word}` under '{section}'");
        format!("[{}]({}.md)", page.title, page.name)
    };
    for Key { name, doc, .. } in fields {
        let _ = writeln!(out, "| `{name}` | {doc} | {} |", page_of("Fields", name));
    }
    out.push_str("\n## Built-in kinds\n\n| kind | page |\n|---|---|\n");
    for kind in builtin_kinds() {
        let _ = writeln!(out, "| `{kind}` | {} |", page_of("Kinds", &kind));
    }
    out.push_str("\n## All pages\n\n");
    for page in pages {
        let _ = writeln!(out, "* [{}]({}.md): {}", page.title, page.name, page.summary.replace('\n', " "));
    }
    out
}

#[test]
fn reference() {
    let pages: Vec<Page> = files(&root().join("src"), ".rs").iter().filter_map(|path| page(path)).collect();
    let fields = kustomization();
    let docs: BTreeMap<String, String> = fields.iter().map(|k| (k.name.clone(), k.doc.clone())).collect();
    for stage in ["src/transformer", "src/generator"].iter().flat_map(|folder| files(&root().join(folder), ".rs")) {
        let text = fs::read_to_string(&stage).unwrap();
        let is_stage = text.contains("impl<'a> Transformer<'a> for") || text.contains("impl<'a> Generator<'a> for");
        let source = stage.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        assert!(!is_stage || pages.iter().any(|p| p.source == source), "{source} is a stage without a document");
    }
    let known: BTreeSet<String> = files(&root().join("testdata"), ".txtar")
        .iter()
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    for (page, case) in pages.iter().flat_map(|page| cases(page).into_iter().map(move |case| (page, case))) {
        assert!(known.contains(&case), "{}: there is no case {case}", page.source);
    }
    let mut wanted: BTreeMap<String, String> =
        pages.iter().map(|page| (format!("{}.md", page.name), markdown(page, &docs))).collect();
    assert_eq!(wanted.len(), pages.len(), "two pages have one name");
    wanted.insert("README.md".to_owned(), index(&pages, &fields));
    let folder = root().join("docs/reference");
    if std::env::var_os("UPDATE").is_some() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        wanted.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    }
    let there: BTreeSet<String> = files(&folder, ".md")
        .iter()
        .map(|path| path.strip_prefix(&folder).unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(there, wanted.keys().cloned().collect(), "UPDATE=1 cargo test reference writes the pages");
    for (name, text) in &wanted {
        let written = fs::read_to_string(folder.join(name)).unwrap();
        assert!(written == *text, "docs/reference/{name} is out of date: UPDATE=1 cargo test reference");
    }
}

#[test]
fn the_page_of_the_plugin_interface_shows_the_header() {
    let header = read("plugin/abi/include/rustomize_plugin.h");
    let page = read("docs/plugin-abi.md");
    let start = page.find("```c\n").unwrap() + 5;
    if std::env::var_os("UPDATE").is_some() {
        fs::write(root().join("docs/plugin-abi.md"), format!("{}{header}```\n", &page[..start])).unwrap();
        return;
    }
    assert_eq!(page[start..], format!("{header}```\n"), "UPDATE=1 cargo test reference writes it");
    // Every function and every word for a result stands in the page's own text or in the header it
    // shows, and in the crate.
    let crate_text =
        read("plugin/abi/src/plugin.rs") + &read("plugin/abi/src/lib.rs") + &read("plugin/abi/src/guest.rs");
    for function in Regex::new(r"rustomize_plugin_[a-z_]+\(").unwrap().find_iter(&header) {
        let name = function.as_str().trim_end_matches('(');
        assert!(page[..start].contains(&format!("`{name}`")) && crate_text.contains(name), "{name}");
    }
}
