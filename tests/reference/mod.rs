//! Prints docs/reference: the documents of the stages, the descriptions of what users write, which
//! the library has as data, and the examples that tests/suite.rs runs. `json_schema` prints
//! docs/schema from the same descriptions. `UPDATE=1 cargo test reference` writes the pages and the
//! schema; without it they must be what would be written.

mod json_schema;

use crate::support::{files, split};
use regex::Regex;
use rustomize::diag::Code;
use rustomize_engine::config::{Described, Field, Kustomization, Record, Shape, TransformerConfig};
use rustomize_engine::pipeline::object::{Builtin, GENERATORS, TRANSFORMERS};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The headings of a stage's document, in their order.
const HEADINGS: [&str; 10] =
    ["Fields", "Kinds", "Entry", "Reads", "Selects", "Writes", "Order", "Cost", "Quirks", "Example"];

/// The source of a page.
struct Page {
    /// Name of the page and of its example.
    name: String,
    /// The source file, from the root of the project.
    source: String,
    title: String,
    summary: String,
    sections: BTreeMap<&'static str, String>,
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

/// Links into the code mean nothing outside of the code.
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

/// All records, by the names of their types.
fn records() -> BTreeMap<&'static str, &'static Record> {
    let objects = builtins().flat_map(|builtin| builtin.records);
    let mut left: Vec<Shape> =
        [Kustomization::SHAPE, TransformerConfig::SHAPE].into_iter().chain(objects.copied()).collect();
    let mut records: BTreeMap<&str, &Record> = BTreeMap::new();
    while let Some(shape) = left.pop() {
        let Some(record) = shape.record() else { continue };
        match records.insert(record.name, record) {
            None => left.extend(record.fields.iter().map(|field| field.shape)),
            Some(other) => assert_eq!(other, record, "two types have one name"),
        }
    }
    records
}

fn kustomization() -> &'static Record {
    Kustomization::SHAPE.record().unwrap()
}

/// The names of the fields of a kustomization, in the order in which they are read.
pub fn kustomization_fields() -> impl Iterator<Item = &'static str> {
    kustomization().fields.iter().map(|field| field.name)
}

fn builtins() -> impl Iterator<Item = &'static Builtin> {
    GENERATORS.iter().chain(&TRANSFORMERS)
}

/// The kinds that configuration objects can ask for.
pub fn builtin_kinds() -> BTreeSet<&'static str> {
    builtins().map(|builtin| builtin.kind).collect()
}

/// The pages that have the fields of each record, in the order of the pages.
type Entries = BTreeMap<String, Vec<String>>;

fn entries(pages: &[Page]) -> Entries {
    let mut entries = Entries::new();
    for page in pages {
        words(page, "Entry").into_iter().for_each(|name| entries.entry(name).or_default().push(page.name.clone()));
    }
    entries
}

/// A shape in words, with a link to the fields of a record.
fn value_of(shape: &Shape, page: &Page, entries: &Entries) -> String {
    match shape {
        Shape::Text => "text".to_owned(),
        Shape::Number => "number".to_owned(),
        Shape::Boolean => "true or false".to_owned(),
        Shape::Anything => "anything".to_owned(),
        Shape::Texts => "texts by keys".to_owned(),
        Shape::List(item) => format!("list of {}", value_of(item, page, entries)),
        Shape::Record(Record { name, .. }) => {
            let pages = entries.get(*name).unwrap_or_else(|| panic!("no page has {name} under 'Entry'"));
            let file = if pages.contains(&page.name) { String::new() } else { format!("{}.md", pages[0]) };
            format!("[{name}]({file}#{})", name.to_lowercase())
        }
    }
}

/// The rows of a table of fields. Neighbours with one doc have one row.
fn rows(fields: &[Field], page: &Page, entries: &Entries) -> String {
    let same_doc = fields.chunk_by(|one, next| one.doc == next.doc);
    let row = |fields: &[Field]| {
        let names: Vec<String> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
        let value = value_of(&fields[0].shape, page, entries);
        format!("| {} | {value} | {} |\n", names.join(", "), without_links(fields[0].doc))
    };
    same_doc.map(row).collect()
}

/// The fields of the objects of a page's kinds, but for those that the page has as an entry.
fn object_fields(page: &Page, entries: &Entries) -> String {
    let kinds = words(page, "Kinds");
    let named = builtins().filter(|builtin| kinds.iter().any(|kind| kind == builtin.kind));
    let mut tables: Vec<(Vec<&str>, String)> = Vec::new();
    for builtin in named {
        let records = builtin.records.iter().filter_map(Shape::record);
        let own = records.filter(|record| !entries.contains_key(record.name));
        let table: String = own.map(|record| rows(record.fields, page, entries)).collect();
        match tables.iter_mut().find(|(_, other)| *other == table) {
            Some((kinds, _)) => kinds.push(builtin.kind),
            None => tables.push((vec![builtin.kind], table)),
        }
    }
    tables.retain(|(_, table)| !table.is_empty());
    let print = |(kinds, table): &(Vec<&str>, String)| {
        format!("\n| key of {} | value | |\n|---|---|---|\n{table}", kinds.join(", "))
    };
    tables.iter().map(print).collect()
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
    // The suite's home of configuration is the directory `config` of a case.
    let has_plugin = files.iter().any(|(name, _)| name.starts_with("config/kustomize/plugin/"));
    let (before, home) = if has_plugin {
        ("The plugin is an executable file (`chmod +x`). ", "XDG_CONFIG_HOME=$PWD/config ")
    } else {
        ("", "")
    };
    let _ = write!(out, "\n{before}`{home}rustomize {args}` prints:\n\n```yaml\n{}```\n", of("stdout"));
    out
}

fn markdown(page: &Page, entries: &Entries) -> String {
    let mut out =
        format!("<!-- Printed from {} by the test `reference`: UPDATE=1 cargo test reference -->\n", page.source);
    let _ = write!(out, "\n# {}\n\n{}\n", page.title, page.summary);
    let named = words(page, "Fields");
    if !named.is_empty() {
        out.push_str("\n| field of kustomization.yaml | |\n|---|---|\n");
        for name in named {
            let field = kustomization().fields.iter().find(|field| field.name == name);
            let field = field.unwrap_or_else(|| panic!("{}: there is no field {name}", page.source));
            let _ = writeln!(out, "| `{name}` | {} |", without_links(field.doc));
        }
    }
    if let Some(kinds) = page.sections.get("Kinds") {
        let _ = write!(out, "\nAs a configuration object, with `apiVersion: builtin`: {kinds}\n");
        out += &object_fields(page, entries);
    }
    for heading in ["Reads", "Selects", "Writes", "Order", "Cost", "Quirks"] {
        if let Some(text) = page.sections.get(heading) {
            let _ = write!(out, "\n## {heading}\n\n{text}\n");
        }
    }
    for name in words(page, "Entry") {
        let records = records();
        let record = records.get(&*name).unwrap_or_else(|| panic!("{}: there is no type {name}", page.source));
        let rows = rows(record.fields, page, entries);
        let _ = write!(out, "\n## {name}\n\n| key | value | |\n|---|---|---|\n{rows}");
    }
    out + &example(page)
}

fn index(pages: &[Page]) -> String {
    let mut out = "<!-- Printed by the test `reference`: UPDATE=1 cargo test reference -->\n\n# Reference\n\nEvery field of a \
                   kustomization and every built-in kind, with an example that the tests run. The pages are printed from the \
                   sources, and so is [a JSON Schema](../schema/kustomization.json) for editors.\n\n## Fields of kustomization.yaml\n\n| field | | page |\n|---|---|---|\n"
        .to_owned();
    let page_of = |section: &str, word: &str| {
        let mut of = pages.iter().filter(|page| words(page, section).iter().any(|w| w == word));
        let page = of.next().unwrap_or_else(|| panic!("no document has `{word}` under '{section}'"));
        assert!(of.next().is_none(), "two documents have `{word}` under '{section}'");
        format!("[{}]({}.md)", page.title, page.name)
    };
    for Field { name, doc, .. } in kustomization().fields {
        let _ = writeln!(out, "| `{name}` | {} | {} |", without_links(doc), page_of("Fields", name));
    }
    out.push_str("\n## Built-in kinds\n\n| kind | page |\n|---|---|\n");
    for kind in builtin_kinds() {
        let _ = writeln!(out, "| `{kind}` | {} |", page_of("Kinds", kind));
    }
    out.push_str(
        "\n## Errors and warnings\n\n[Codes of errors and warnings](codes/README.md) has a page for each code.\n",
    );
    out.push_str("\n## All pages\n\n");
    for page in pages {
        let _ = writeln!(out, "* [{}]({}.md): {}", page.title, page.name, page.summary.replace('\n', " "));
    }
    out
}

/// The page of a code, as the tool has it.
fn page_of_code(code: Code) -> String {
    let source = format!("src/engine/diag/codes/{}.md", code.as_str());
    let head = format!("<!-- Printed from {source} by the test `reference`: UPDATE=1 cargo test reference -->\n\n");
    head + code.page()
}

fn index_of_codes() -> String {
    let mut out = "<!-- Printed by the test `reference`: UPDATE=1 cargo test reference -->\n\n# Codes of errors and \
                   warnings\n\n`rustomize explain CODE` prints a page. `--error-format json` and the other formats \
                   for programs have the code of each message. The tests run each example.\n\n| code | meaning |\n\
                   |---|---|\n"
        .to_owned();
    for code in Code::all() {
        let _ = writeln!(out, "| [`{0}`]({0}.md) | {1} |", code.as_str(), code.meaning());
    }
    out
}

#[test]
fn reference() {
    let pages: Vec<Page> = files(&root().join("src"), ".rs").iter().filter_map(|path| page(path)).collect();
    let entries = entries(&pages);
    for stage in
        ["src/engine/transformer", "src/engine/generator"].iter().flat_map(|folder| files(&root().join(folder), ".rs"))
    {
        let text = fs::read_to_string(&stage).unwrap();
        let traits = ["Transformer", "TransformEach", "Generator"].map(|name| format!("impl<'a> {name}<'a> for"));
        let is_stage = traits.iter().any(|name| text.contains(name));
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
        pages.iter().map(|page| (format!("{}.md", page.name), markdown(page, &entries))).collect();
    assert_eq!(wanted.len(), pages.len(), "two pages have one name");
    wanted.insert("README.md".to_owned(), index(&pages));
    wanted.extend(Code::all().map(|code| (format!("codes/{}.md", code.as_str()), page_of_code(code))));
    wanted.insert("codes/README.md".to_owned(), index_of_codes());
    let folder = root().join("docs/reference");
    if std::env::var_os("UPDATE").is_some() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("codes")).unwrap();
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
    // Every function and every word for a result is in the page's own text or in the header it
    // shows, and in the crate.
    let crate_text =
        read("plugin/abi/src/plugin.rs") + &read("plugin/abi/src/lib.rs") + &read("plugin/abi/src/guest.rs");
    for function in Regex::new(r"rustomize_plugin_[a-z_]+\(").unwrap().find_iter(&header) {
        let name = function.as_str().trim_end_matches('(');
        assert!(page[..start].contains(&format!("`{name}`")) && crate_text.contains(name), "{name}");
    }
}
