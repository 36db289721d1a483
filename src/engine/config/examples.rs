//! Examples of the fields that people write in another form than kustomize takes, for hints.

use crate::diag::{Code, Diagnostic};
use rustomize_yaml::Node;

/// A field, as errors call it, and its form.
const EXAMPLES: &[(&str, &str)] = &[
    ("resources", "resources: [web.yaml]"),
    ("components", "components: [../parts/tls]"),
    ("images", "images: [{name: nginx, newTag: \"1.21\"}]"),
    ("replicas", "replicas: [{name: web, count: 3}]"),
    ("labels", "labels: [{pairs: {app: web}}]"),
    ("commonLabels", "commonLabels: {app: web}"),
    ("commonAnnotations", "commonAnnotations: {team: shop}"),
    ("patches", "patches: [{path: patch.yaml}]"),
    ("patches.patch", "patch: |- with the patch as a text in the lines below"),
    ("patches.target", "target: {kind: Deployment, name: web}"),
    ("patches.target.labelSelector", "labelSelector: app=web"),
    ("patches.target.annotationSelector", "annotationSelector: team=shop"),
    ("patchesStrategicMerge", "patchesStrategicMerge: [patch.yaml]"),
    ("configMapGenerator", "configMapGenerator: [{name: settings, literals: [a=b]}]"),
    ("configMapGenerator.literals", "literals: [a=b]"),
    ("configMapGenerator.files", "files: [app.conf]"),
    ("configMapGenerator.envs", "envs: [app.env]"),
    ("secretGenerator", "secretGenerator: [{name: login, files: [password]}]"),
    ("secretGenerator.literals", "literals: [a=b]"),
    ("secretGenerator.files", "files: [password]"),
    ("secretGenerator.envs", "envs: [app.env]"),
    ("generatorOptions", "generatorOptions: {disableNameSuffixHash: true}"),
    ("generators", "generators: [maker.yaml]"),
    ("transformers", "transformers: [changer.yaml]"),
    ("replacements.source", "source: {kind: Deployment, name: web, fieldPath: spec.replicas}"),
    ("replacements.targets.select", "select: {kind: Deployment}"),
    ("replacements.targets.fieldPaths", "fieldPaths: [spec.replicas]"),
    ("helmCharts", "helmCharts: [{name: web, repo: https://charts.example.com, version: 1.0.0}]"),
    ("openapi", "openapi: {path: schema.json}"),
    ("crds", "crds: [crd.json]"),
    ("configurations", "configurations: [names.yaml]"),
    ("", "resources: [web.yaml]"),
];

/// Names that people give a field, and its own name.
const OTHER_NAMES: &[(&str, &str, &str)] = &[
    ("images", "image", "name"),
    ("images", "tag", "newTag"),
    ("images", "repository", "newName"),
    ("replicas", "replicas", "count"),
    ("", "image", "images"),
    ("", "prefix", "namePrefix"),
    ("", "suffix", "nameSuffix"),
    ("", "files", "resources"),
];

/// Fields that people write beside or in place of those that kustomize has, and what to write.
const ELSEWHERE: &[(&[&str], &[&str], &str)] = &[
    (GENERATORS, &["data", "stringData"], "write 'literals: [KEY=VALUE]', or 'files: [FILE]'"),
    (GENERATORS, &["disableNameSuffixHash"], "write it below 'options': options: {disableNameSuffixHash: true}"),
    (GENERATORS, &["immutable"], "write it below 'options': options: {immutable: true}"),
    (GENERATORS, &["labels", "annotations"], "write them below 'options', as in options: {labels: {app: web}}"),
    (&["helmCharts"], &["values"], "write the values below 'valuesInline', or name a file: valuesFile: values.yaml"),
    (
        &["patches.target", "patchesJson6902.target", "replacements.targets.select", "replacements.source"],
        &["apiVersion"],
        "write the parts of the apiVersion, as in group: apps, version: v1",
    ),
];

const GENERATORS: &[&str] = &["configMapGenerator", "secretGenerator"];

/// Advice for a fault of a kustomization file whose document is `node`.
pub(super) fn advice(fault: &Diagnostic, node: Option<&Node<'_>>) -> Option<String> {
    let field = fault.field().unwrap_or_default();
    match fault.code() {
        Code::WrongType => {
            // A scalar of another type than the text that is wanted has its own advice.
            let is_scalar = fault.message().starts_with("expected a string, found") && fault.message().ends_with(')');
            let example = EXAMPLES.iter().find(|(name, _)| *name == field).filter(|_| !is_scalar);
            // A list of texts is written in a single text: the text itself is the better example.
            let is_text = fault.message().starts_with("expected a list, found a string");
            let example = example.filter(|(_, example)| !is_text || example.contains('{'));
            example.map(|(_, example)| format!("write it as in {example}"))
        }
        Code::UnknownField => {
            let given = fault.message().split('"').nth(1)?;
            let kind = node.and_then(|node| node.get_text("kind")).unwrap_or_default();
            let version = node.and_then(|node| node.get_text("apiVersion")).unwrap_or_default();
            let other = OTHER_NAMES.iter().find(|(of, name, _)| *of == field && *name == given);
            let elsewhere =
                ELSEWHERE.iter().find(|(of, names, _)| of.contains(&field.as_str()) && names.contains(&given));
            if let Some((.., advice)) = elsewhere {
                return Some((*advice).to_owned());
            }
            match other {
                Some((_, _, own)) => Some(format!("did you mean '{own}'?")),
                None if field == "labels"
                    && !given.starts_with("include")
                    && !fault.hints().iter().any(|hint| hint.starts_with("did you mean")) =>
                {
                    Some(format!("write the label below 'pairs', as in labels: [{{pairs: {{{given}: red}}}}]"))
                }
                None if !field.is_empty() => None,
                None if version.starts_with("kustomize.toolkit.fluxcd.io/") => {
                    Some("this is an object of Flux: rename the file, and list it under 'resources'".to_owned())
                }
                None if !matches!(kind, "" | "Kustomization" | "Component") => {
                    Some(format!("a {kind} is a resource: rename the file, and list it under 'resources'"))
                }
                None => None,
            }
        }
        _ => None,
    }
}
