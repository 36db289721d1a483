//! The description of a plugin, made from its type: the answer to `describe`, and `plugin.yaml`.

use crate::documents;
use crate::{Plugin, Role, mode};
use rustomize_plugin_abi::Mode;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The version of rustomize's interface for plugins that this crate is written for.
const API: &str = "x1.0";

/// The plugin's description: the output of `rustomize plugin describe`, and the answer of a shared
/// object.
pub fn describe<P: Plugin>() -> Value {
    let modes: Vec<&str> = P::ROLES.iter().map(|role| mode_name(mode(*role))).collect();
    let mut description = json!({
        "name": P::NAME, "version": P::VERSION, "api_version": API, "sdk_version": env!("CARGO_PKG_VERSION"),
        "protocol": "exec", "format": "yaml", "language": "rust", "modes": modes,
    });
    if let Some(fields) = description.as_object_mut() {
        if P::IS_WORKER {
            fields.insert("worker".to_owned(), Value::Bool(true));
        }
        fields.extend(components::<P>());
    }
    description
}

/// The plugin's `plugin.yaml`, for a directory with the shared object `entry` in it.
pub fn manifest<P: Plugin>(entry: &str) -> String {
    let mut manifest = json!({
        "apiVersion": "rustomize.dev/v1", "kind": "Plugin", "name": P::NAME, "version": P::VERSION, "api": API,
        "runtime": "so", "entry": entry,
    });
    if let Some(fields) = manifest.as_object_mut() {
        fields.extend(components::<P>());
    }
    documents::print_value(&manifest)
}

/// The JSON Schema (draft 2020-12) of the plugin's configuration objects. It has the type's fields,
/// and `apiVersion`, `kind` and `metadata`.
pub fn schema<P: Plugin>() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<P>().to_value();
    let Some(root) = schema.as_object_mut() else { return schema };
    root.insert("title".to_owned(), P::KIND.into());
    let head = json!({
        "apiVersion": { "const": P::API_VERSION }, "kind": { "const": P::KIND }, "metadata": { "type": "object" },
    });
    if let (Some(properties), Value::Object(head)) = (object_in(root, "properties"), head) {
        properties.extend(head);
    }
    let required = root.entry("required").or_insert_with(|| json!([]));
    if let Some(required) = required.as_array_mut() {
        required.extend(["apiVersion", "kind"].map(Value::from));
    }
    // A schema of alternatives names its fields in the alternatives, so its root must allow any
    // field.
    let is_of_alternatives = ["oneOf", "anyOf", "allOf", "$ref"].iter().any(|key| root.contains_key(*key));
    if !is_of_alternatives {
        root.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    schema
}

fn object_in<'m>(map: &'m mut Map<String, Value>, key: &str) -> Option<&'m mut Map<String, Value>> {
    map.entry(key).or_insert_with(|| json!({})).as_object_mut()
}

/// The lists `generators`, `transformers` and `validators` of the plugin's roles.
fn components<P: Plugin>() -> Map<String, Value> {
    let schema = schema::<P>();
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    // The first paragraph of the type's doc comment, in one line.
    let summary: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let component = json!({
        "name": P::NAME, "apiVersion": P::API_VERSION, "kind": P::KIND, "summary": summary.join(" "),
        "schema": schema,
    });
    let list = |role: &Role| (format!("{role}s"), Value::from(vec![component.clone()]));
    P::ROLES.iter().map(list).collect()
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Generate => "generate",
        Mode::Transform => "transform",
        Mode::Validate => "validate",
    }
}

#[cfg(test)]
mod tests {
    use super::{describe, manifest, schema};
    use crate::{JsonSchema, Plugin, Role, documents};
    use serde::Deserialize;
    use serde_json::{Value, json};

    /// Sets labels
    /// on resources.
    ///
    /// A second paragraph.
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "the type is for its schema")]
    struct Labels {
        /// The label.
        label: String,
        #[serde(default)]
        values: Vec<u8>,
        nested: Option<Nested>,
    }

    /// A type of a field.
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "the type is for its schema")]
    struct Nested {
        on: bool,
    }

    impl Plugin for Labels {
        const NAME: &'static str = "labels";
        const VERSION: &'static str = "1.2.3";
        const API_VERSION: &'static str = "example.com/v1";
        const KIND: &'static str = "Labels";
        const ROLES: &'static [Role] = &[Role::Transformer, Role::Validator];
    }

    #[test]
    fn the_schema_is_of_the_whole_object_and_of_the_types_docs() {
        let schema = schema::<Labels>();
        let at = |path: &str| schema.pointer(path).cloned().unwrap_or_default();
        assert_eq!(at("/$schema"), "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(at("/properties/label"), json!({"type": "string", "description": "The label."}));
        assert_eq!(at("/properties/kind"), json!({"const": "Labels"}));
        assert_eq!(at("/required"), json!(["label", "apiVersion", "kind"]));
        assert_eq!(at("/additionalProperties"), json!(false));
        assert_eq!(at("/$defs/Nested/required"), json!(["on"]));
    }

    #[test]
    fn a_description_lists_a_component_under_each_role() {
        let said = describe::<Labels>();
        let at = |path: &str| said.pointer(path).cloned().unwrap_or_default();
        assert_eq!(at("/version"), "1.2.3");
        assert_eq!(at("/modes"), json!(["transform", "validate"]));
        assert_eq!(at("/transformers/0/summary"), "Sets labels on resources.");
        assert_eq!(at("/validators"), at("/transformers"));
        assert_eq!(at("/transformers/0/schema"), schema::<Labels>());
        assert_eq!(said.get("generators"), None);
    }

    #[test]
    fn a_manifest_says_the_same_in_yaml() {
        let manifest: Value = documents::parse(&manifest::<Labels>("plugin.so")).unwrap();
        assert_eq!(manifest["runtime"], "so");
        assert_eq!(manifest["validators"], describe::<Labels>()["validators"]);
    }
}
