//! Prints docs/schema/kustomization.json, a JSON Schema (draft 2020-12) for editors, from the same
//! descriptions as the pages, and holds it to what the tool takes and refuses. The same for
//! docs/schema/rustomize.json, which is only printed.

use super::{kustomization, root, without_links};
use crate::support::{files, split};
use regex::Regex;
use rustomize::diag::Code;
use rustomize::load::Memory;
use rustomize::{Options, Workspace, build, tree::Heap};
use rustomize_engine::config::{Field, Record, Shape};
use rustomize_engine::lint::settings::SHAPE as SETTINGS;
use rustomize_engine::load::kustomization_file::FILE_NAMES;
use rustomize_yaml::first_document;
use rustomize_yaml::json::{from_yaml_1_1, write};
use serde_json::{Map, Value, json};
use std::fs;

/// The values that a field accepts. A null counts as not given, wherever it is written.
fn schema_of(shape: &Shape, words: &[&str]) -> Value {
    match shape {
        Shape::Text if !words.is_empty() => {
            let words = words.iter().map(|word| json!(word));
            json!({ "enum": words.chain([Value::Null]).collect::<Vec<_>>() })
        }
        Shape::Text => json!({ "type": ["string", "null"] }),
        Shape::Number => json!({ "type": ["integer", "null"] }),
        Shape::Boolean => json!({ "type": ["boolean", "null"] }),
        Shape::Anything => json!({}),
        Shape::Texts => json!({ "type": ["object", "null"], "additionalProperties": schema_of(&Shape::Text, &[]) }),
        Shape::List(item) => json!({ "type": ["array", "null"], "items": schema_of(item, words) }),
        Shape::Record(record) => json!({ "$ref": format!("#/$defs/{}", record.name) }),
    }
}

fn schema_of_field(field: &Field) -> Value {
    let mut schema = schema_of(&field.shape, field.words);
    schema["description"] = json!(without_links(field.doc));
    if field.is_deprecated {
        schema["deprecated"] = json!(true);
    }
    schema
}

fn schema_of_record(record: &Record) -> Value {
    let fields: Map<String, Value> =
        record.fields.iter().map(|field| (field.name.to_owned(), schema_of_field(field))).collect();
    let others = if record.is_open { schema_of(&Shape::Text, &[]) } else { json!(false) };
    json!({
        "title": record.name,
        "description": without_links(record.doc),
        "type": ["object", "null"],
        "properties": fields,
        "additionalProperties": others,
    })
}

/// The definitions of the records that a record leads to.
fn definitions(record: &Record, found: &mut Map<String, Value>) {
    for inner in record.fields.iter().filter_map(|field| field.shape.record()) {
        if found.insert(inner.name.to_owned(), schema_of_record(inner)).is_none() {
            definitions(inner, found);
        }
    }
}

/// Each kind with the apiVersion that it has.
fn versions() -> impl Iterator<Item = (&'static str, &'static str)> {
    let words = |name| kustomization().fields.iter().find(|field| field.name == name).unwrap().words.iter().copied();
    words("kind").zip(words("apiVersion"))
}

fn schema() -> Value {
    let mut schema = schema_of_record(kustomization());
    let mut found = Map::new();
    definitions(kustomization(), &mut found);
    let version = |kind: &str| {
        let (_, version) = versions().find(|(other, _)| *other == kind).unwrap();
        json!({ "properties": { "apiVersion": { "enum": [version, null] } } })
    };
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["$comment"] = json!("Printed by the test `reference`: UPDATE=1 cargo test reference");
    schema["type"] = json!("object");
    schema["if"] = json!({ "required": ["kind"], "properties": { "kind": { "const": "Component" } } });
    schema["then"] = version("Component");
    schema["else"] = version("Kustomization");
    schema["$defs"] = Value::Object(found);
    schema
}

/// Why a value is not what a schema says: the path to the fault. This reads the keywords that are
/// used here, and no others.
fn fault(value: &Value, schema: &Value, all: &Value, path: &str) -> Option<String> {
    let holds = |schema: &Value| fault(value, schema, all, path).is_none();
    let branch = |word: &str| schema.get(word).and_then(|schema| fault(value, schema, all, path));
    let is_wrong = |expected: &Value, keyword: &str| match keyword {
        "type" => !is_of_type(value, expected),
        "enum" => !expected.as_array().unwrap().contains(value),
        "const" => value != expected,
        "required" => !expected.as_array().unwrap().iter().all(|name| value.get(name.as_str().unwrap()).is_some()),
        _ => false,
    };
    for (keyword, expected) in schema.as_object().unwrap() {
        let below = match keyword.as_str() {
            "$ref" => fault(value, all.pointer(expected.as_str().unwrap().trim_start_matches('#')).unwrap(), all, path),
            "if" if holds(expected) => branch("then"),
            "if" => branch("else"),
            "items" => {
                let mut items = value.as_array().into_iter().flatten().enumerate();
                items.find_map(|(i, item)| fault(item, expected, all, &format!("{path}/{i}")))
            }
            "properties" => {
                let mut given = value.as_object().into_iter().flatten();
                given.find_map(|(name, value)| fault(value, expected.get(name)?, all, &format!("{path}/{name}")))
            }
            "additionalProperties" => {
                let known = |name: &str| schema.get("properties").is_some_and(|known| known.get(name).is_some());
                let mut others = value.as_object().into_iter().flatten().filter(|(name, _)| !known(name));
                others.find_map(|(name, value)| {
                    let path = format!("{path}/{name}");
                    if *expected == false { Some(path) } else { fault(value, expected, all, &path) }
                })
            }
            "type" | "enum" | "const" | "required" => is_wrong(expected, keyword).then(|| path.to_owned()),
            "title" | "description" | "deprecated" | "$schema" | "$comment" | "$defs" | "then" | "else" => None,
            other => panic!("nothing here reads the keyword '{other}'"),
        };
        if below.is_some() {
            return below;
        }
    }
    None
}

fn is_of_type(value: &Value, expected: &Value) -> bool {
    let is_of = |name: &str| match name {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("there is no type '{other}'"),
    };
    match expected {
        Value::String(name) => is_of(name),
        names => names.as_array().unwrap().iter().any(|name| is_of(name.as_str().unwrap())),
    }
}

/// A kustomization file as JSON.
fn to_json(text: &str) -> Value {
    let heap = Heap::new();
    let arena = heap.arena();
    let mut node = first_document(arena, arena.add_source("kustomization.yaml", text.to_owned())).unwrap().unwrap();
    from_yaml_1_1(arena, &mut node);
    let mut printed = String::new();
    write(&mut printed, &node);
    serde_json::from_str(&printed).unwrap()
}

#[test]
fn the_schema_is_what_the_descriptions_say() {
    let path = root().join("docs/schema/kustomization.json");
    let wanted = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &wanted).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap();
    assert!(written == wanted, "docs/schema/kustomization.json is out of date: UPDATE=1 cargo test reference");
}

/// The schema of `rustomize.yaml`.
fn settings_schema() -> Value {
    let record = SETTINGS.record().unwrap();
    let mut schema = schema_of_record(record);
    let mut found = Map::new();
    definitions(record, &mut found);
    let codes = || Code::FINDINGS.iter().chain(Code::OF_SCHEMAS).map(|code| code.as_str());
    found["Allow"]["properties"]["code"]["enum"] = json!(codes().collect::<Vec<_>>());
    found["Allow"]["required"] = json!(["code", "reason"]);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["$comment"] = json!("Printed by the test `reference`: UPDATE=1 cargo test reference");
    schema["title"] = json!("rustomize.yaml");
    schema["$defs"] = Value::Object(found);
    schema
}

#[test]
fn the_schema_of_settings_is_what_the_descriptions_say() {
    let path = root().join("docs/schema/rustomize.json");
    let wanted = serde_json::to_string_pretty(&settings_schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &wanted).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == wanted,
        "docs/schema/rustomize.json is out of date: UPDATE=1 cargo test reference"
    );
}

/// Cases that build although the schema refuses one of their kustomization files, and the path of
/// the refused value.
const BEYOND_THE_SCHEMA: [(&str, &str); 5] = [
    // The order of a base does nothing, so the tool accepts any word as its value.
    ("out-reorder-none-and-base-sort-ignored", "/sortOptions/order"),
    // The schema has one spelling of each name; the tool ignores the case of letters.
    ("vars-in-shared-values", "/vars/1/fieldref/fieldpath"),
    ("vars-of-numbers", "/vars/0/fieldref/fieldpath"),
    ("vars-of-odd-types", "/vars/0/fieldref/fieldpath"),
    // The schema is that of the newest version.
    ("refuses-unknown-patch-options-no", "/patches/0/options/allowAll"),
];

#[test]
fn the_schema_takes_what_builds() {
    let (schema, mut seen) = (schema(), 0);
    let mut refused: Vec<(String, String)> = Vec::new();
    for path in files(&root().join("testdata"), ".txtar") {
        let (_, files) = split(&fs::read_to_string(&path).unwrap());
        if !files.iter().any(|(name, _)| name == "stdout") {
            continue;
        }
        let case = path.file_stem().unwrap().to_string_lossy();
        for (_, text) in files.iter().filter(|(name, _)| FILE_NAMES.contains(&name.rsplit('/').next().unwrap())) {
            seen += 1;
            refused.extend(fault(&to_json(text), &schema, &schema, "").map(|place| (case.clone().into_owned(), place)));
        }
    }
    assert!(seen > 200, "the kustomization files were not found");
    let refused: Vec<(&str, &str)> = refused.iter().map(|(case, place)| (case.as_str(), place.as_str())).collect();
    assert_eq!(refused, BEYOND_THE_SCHEMA);
}

/// Kustomizations with one fault each, and where it is.
const WRONG: [(&str, &str); 12] = [
    ("name: web", "/name"),
    ("resources: map.yaml", "/resources"),
    ("namePrefix: 1", "/namePrefix"),
    ("commonLabels: {on: yes}", "/commonLabels/true"),
    ("kind: Deployment", "/kind"),
    ("kind: Component\napiVersion: kustomize.config.k8s.io/v1beta1", "/apiVersion"),
    ("apiVersion: kustomize.config.k8s.io/v1alpha1", "/apiVersion"),
    ("sortOptions: {order: random}", "/sortOptions/order"),
    ("images: [{nme: web}]", "/images/0/nme"),
    ("replicas: [{name: web, count: many}]", "/replicas/0/count"),
    ("labels: [{pairs: {a: b}, includeSelectors: 1}]", "/labels/0/includeSelectors"),
    (
        "replacements: [{source: {kind: Pod}, targets: [{select: {names: web}}]}]",
        "/replacements/0/targets/0/select/names",
    ),
];

#[test]
fn the_schema_and_the_tool_refuse_what_is_wrong() {
    let schema = schema();
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n";
    for (text, place) in WRONG {
        assert_eq!(fault(&to_json(text), &schema, &schema, "").as_deref(), Some(place), "{text}");
        let has_resources = text.starts_with("resources");
        let resources = if has_resources { "" } else { "resources: [map.yaml]\n" };
        let files =
            Memory::from_iter([("kustomization.yaml", format!("{resources}{text}\n")), ("map.yaml", map.to_owned())]);
        let workspace = Workspace::new();
        let built = build(&workspace, &files, ".", &Options::default()).value;
        assert!(built.is_err(), "the tool takes {text}");
    }
}

/// A doc of a user's field does not speak of the code.
#[test]
fn descriptions_have_no_links() {
    let link = Regex::new(r"\[`").unwrap();
    assert!(!link.is_match(&schema().to_string()));
}
