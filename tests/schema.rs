//! The table of merge keys against the recorded schema, if that is beside the checkout.

use rustomize::Gvk;
use rustomize_engine::schema::{Schema, Schemas};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A field as the recorded schema has it.
struct Field {
    name: String,
    is_list: bool,
    target: String,
    keys: Option<Vec<String>>,
}

type Definitions = BTreeMap<String, Vec<Field>>;

#[test]
fn merge_keys_are_those_of_the_recorded_schema() {
    let facts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/facts");
    let (Ok(fields), Ok(kinds)) = (
        std::fs::read_to_string(facts.join("schema-fields.tsv")),
        std::fs::read_to_string(facts.join("schema-gvk.tsv")),
    ) else {
        crate::support::skip("the recorded schema is not beside this checkout");
        return;
    };
    let mut definitions = Definitions::new();
    for line in fields.lines().filter(|l| !l.starts_with('#')) {
        let mut c = line.split('\t').map(str::to_owned).chain(std::iter::repeat(String::new()));
        let mut next = || c.next().unwrap();
        let (definition, name, kind, target, merge_key, strategy, _, map_keys) =
            (next(), next(), next(), next(), next(), next(), next(), next());
        let is_merged = strategy.split(',').any(|s| s == "merge") && kind == "array";
        let keys = match (map_keys.as_str(), merge_key.as_str()) {
            ("", "") => Vec::new(),
            ("", key) => vec![key.to_owned()],
            (keys, _) => keys.split(',').map(str::to_owned).collect(),
        };
        let target = target.trim_start_matches("[]").to_owned();
        let field = Field { name, is_list: kind == "array", target, keys: is_merged.then_some(keys) };
        definitions.entry(definition).or_default().push(field);
    }
    let schemas = Schemas::default();
    let mut compared = 0;
    for line in kinds.lines().filter(|l| !l.starts_with('#')) {
        let c: Vec<&str> = line.split('\t').collect();
        let schema = schemas.of(&Gvk { group: c[0], version: c[1], kind: c[2] });
        compared += compare(&definitions, c[3], schema, &mut BTreeSet::new(), line);
    }
    assert!(compared > 400, "only {compared} keyed lists were compared");
}

/// Walks both schemas together; gives how many keyed lists were met.
fn compare(all: &Definitions, definition: &str, schema: Schema<'_>, seen: &mut BTreeSet<String>, way: &str) -> usize {
    if !seen.insert(definition.to_owned()) {
        return 0;
    }
    let mut met = 0;
    for field in all.get(definition).map(Vec::as_slice).unwrap_or_default() {
        let way = format!("{way} {}", field.name);
        let mine = schema.field(&field.name);
        let keys = mine.merge_keys().map(|keys| keys.iter().map(|k| (*k).to_owned()).collect::<Vec<_>>());
        assert_eq!(keys, field.keys, "{way}");
        met += usize::from(keys.is_some());
        if !field.is_list || field.keys.is_some() {
            met += compare(all, &field.target, if field.is_list { mine.items() } else { mine }, seen, &way);
        }
    }
    seen.remove(definition);
    met
}
