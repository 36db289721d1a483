//! Kustomization files that commands have changed, read as kustomize reads them.

use super::{Run, Tree, in_path, run};
use rustomize::tree::Heap;
use rustomize_yaml::first_document;
use rustomize_yaml::json::{from_yaml_1_1, write};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// The words of a command, which may be in single quotes.
pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut in_quotes, mut is_word) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (in_quotes, is_word) = (!in_quotes, true),
            ' ' if !in_quotes => {
                if std::mem::take(&mut is_word) {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => {
                word.push(c);
                is_word = true;
            }
        }
    }
    if is_word {
        words.push(word);
    }
    words
}

/// A text as a reader of YAML 1.1 sees it.
pub fn decoded(text: &str) -> Value {
    let heap = Heap::new();
    let arena = heap.arena();
    let Some(mut node) = first_document(arena, arena.add_source("file", text.to_owned())).unwrap() else {
        return json!({});
    };
    from_yaml_1_1(arena, &mut node);
    let mut out = String::new();
    write(&mut out, &node);
    serde_json::from_str(&out).unwrap()
}

/// All documents of a text, as [`decoded`] reads one.
pub fn decoded_all(text: &str) -> Vec<Value> {
    text.split("\n---\n").map(decoded).collect()
}

/// A kustomization as kustomize reads it: without empty fields, with its type, under current names.
/// Images and replicas are sorted, which kustomize does to the file, and so are literals, which it
/// writes in random order.
pub fn kustomization(text: &str) -> Value {
    let Value::Object(fields) = decoded(text) else { panic!("no kustomization:\n{text}") };
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    let lower = |name: &str| name[..1].to_lowercase() + &name[1..];
    let mut fields: BTreeMap<String, Value> =
        fields.into_iter().filter(|(_, value)| !is_empty(value)).map(|(name, value)| (lower(&name), value)).collect();
    let kind = fields.entry("kind".into()).or_insert_with(|| json!("Kustomization")).clone();
    let version = if kind == "Component" { "v1alpha1" } else { "v1beta1" };
    fields.entry("apiVersion".into()).or_insert_with(|| json!(format!("kustomize.config.k8s.io/{version}")));
    for (old, new) in [("bases", "resources"), ("imageTags", "images")] {
        if let Some(Value::Array(items)) = fields.remove(old) {
            let list = fields.entry(new.into()).or_insert_with(|| json!([]));
            list.as_array_mut().unwrap().extend(items);
        }
    }
    for field in ["configMapGenerator", "secretGenerator"] {
        let entries = fields.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten();
        for entry in entries.filter_map(Value::as_object_mut) {
            if let Some(env) = entry.remove("env") {
                entry.entry("envs").or_insert_with(|| json!([])).as_array_mut().unwrap().push(env);
            }
            if let Some(Value::Array(literals)) = entry.get_mut("literals") {
                literals.sort_by_key(ToString::to_string);
            }
        }
    }
    for field in ["images", "replicas"] {
        if let Some(Value::Array(items)) = fields.get_mut(field) {
            items.sort_by_key(|item| item["name"].as_str().unwrap_or_default().to_owned());
        }
    }
    fields.into_iter().collect()
}

pub fn is_kustomization(name: &str) -> bool {
    ["kustomization.yaml", "Kustomization"].contains(&name)
}

/// kustomize in a tree; `None` without it.
pub fn kustomize(tree: &Tree, args: &[String]) -> Option<Run> {
    let program = in_path("kustomize")?;
    #[expect(clippy::disallowed_methods, reason = "the program that results are compared with")]
    let mut command = Command::new(program);
    command.args(args).current_dir(tree.path()).env("HOME", tree.home()).stdin(Stdio::null());
    Some(run(&mut command))
}

pub fn of_files(files: &[(String, String)]) -> Tree {
    let tree = Tree::new("");
    files.iter().for_each(|(name, text)| tree.write(name, text));
    tree
}

pub fn arguments(verb: &str, rest: &[String]) -> Vec<String> {
    std::iter::once(verb.to_owned()).chain(rest.iter().cloned()).collect()
}

pub fn ours(tree: &Tree, args: &[String]) -> Run {
    tree.run(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The rest of a value when keys are in lower case and nothing is empty, zero or off: kustomize
/// writes all fields again.
pub fn essence(value: &Value) -> Option<Value> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::Number(n) if n.as_i64() == Some(0) => None,
        Value::String(text) if text.is_empty() => None,
        Value::Array(items) => {
            let items: Vec<Value> = items.iter().filter_map(essence).collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Value::Object(fields) => {
            let fields = fields.iter().filter_map(|(name, value)| Some((name.to_lowercase(), essence(value)?)));
            let fields: serde_json::Map<String, Value> = fields.collect();
            (!fields.is_empty()).then_some(Value::Object(fields))
        }
        other => Some(other.clone()),
    }
}
