//! Generators, and the built-in transformers, generators and validators that are written as
//! objects.

use super::super::tree::Layer;
use super::super::value::{V, m, one, s, text};
use super::words::{KEYS, NAMES, NAMESPACES, string};
use super::{Known, few, map, patches, pick, rarely, references};
use fastrand::Rng;

fn generator_options(rng: &mut Rng) -> V {
    let labels = || m(vec![("gen", s("x"))]);
    match rng.u8(..4) {
        0 => m(vec![("disableNameSuffixHash", s("true"))]),
        1 => m(vec![("labels", labels())]),
        2 => m(vec![("immutable", s("true"))]),
        _ => m(vec![("annotations", map(rng, &KEYS, string))]),
    }
}

/// Where the data of a generator comes from.
fn sources(rng: &mut Rng) -> Vec<(&'static str, V)> {
    let literals = [
        "k=v",
        "'other=\"q\"'",
        "p=a=b",
        "'e='",
        "k2=1",
        "'8080=x'",
        "\"c=\\x01\"",
        "\"m=a\\nb\\n\"",
        "\"n=a\\u0085b\"",
        "'r=\u{1}'",
        "\"s= a \"",
        "y=1",
    ];
    let common = rng.u8(..10) > 0;
    let literals = if common { &literals[..5] } else { &literals[..] };
    let mut chosen: Vec<V> = literals.iter().filter(|_| rng.bool()).map(|l| s(*l)).collect();
    if chosen.is_empty() {
        chosen.push(s("z=1"));
    }
    let mut entries = vec![("literals", V::L(chosen))];
    if rng.u8(..3) == 0 {
        let file = pick(rng, &["file.txt", "renamed=file.txt", "bin.dat", "./file.txt", "'8081=file.txt'"]);
        entries.push(("files", one(s(file))));
    }
    if rng.u8(..4) == 0 {
        entries.push(("envs", one(s("vars.env"))));
    } else if rarely(rng, 12) {
        entries.push(("env", s("vars.env")));
    }
    if entries.len() > 1 && rarely(rng, 4) {
        entries.remove(0);
    }
    entries
}

/// An item of configMapGenerator or secretGenerator.
pub fn generator(rng: &mut Rng, is_secret: bool, known: Known<'_>) -> V {
    let there = known.of(rng, &[if is_secret { "Secret" } else { "ConfigMap" }]).filter(|_| rng.u8(..3) == 0);
    let name = match there {
        Some(object) => text(object, &["metadata", "name"]),
        None => format!("{}-g{}", pick(rng, &NAMES), rng.u8(..20)),
    };
    let mut entries = vec![("name", s(name))];
    entries.append(&mut sources(rng));
    if let Some(object) = there {
        entries.push(("behavior", s(pick(rng, &["merge", "merge", "merge", "replace", "replace", "create"]))));
        entries.extend(references::namespace_of(object).map(|namespace| ("namespace", namespace)));
    } else if rng.u8(..5) == 0 {
        entries.push(("namespace", s(pick(rng, &NAMESPACES))));
    }
    if rng.u8(..4) == 0 {
        entries.push(("options", generator_options(rng)));
    }
    if is_secret && rng.u8(..3) == 0 {
        entries.push(("type", s("example.com/t")));
    }
    m(entries)
}

/// The field generatorOptions.
pub fn options(rng: &mut Rng) -> V {
    generator_options(rng)
}

fn object(kind: &str, name: String, mut rest: Vec<(&str, V)>) -> V {
    let mut entries = vec![("apiVersion", s("builtin")), ("kind", s(kind)), ("metadata", m(vec![("name", s(name))]))];
    entries.append(&mut rest);
    m(entries)
}

/// A field spec of a path.
fn at_path(path: &str, mut rest: Vec<(&str, V)>) -> V {
    rest.insert(0, ("path", s(path)));
    m(rest)
}

fn creates() -> Vec<(&'static str, V)> {
    vec![("create", s("true"))]
}

fn transformer(rng: &mut Rng) -> V {
    let name = format!("t{}", rng.u8(..100));
    let specs = |path: &str, rest| ("fieldSpecs", one(at_path(path, rest)));
    let (kind, rest) = match rng.u8(..9) {
        0 => ("PrefixTransformer", vec![("prefix", s("t-")), specs("metadata/name", Vec::new())]),
        1 => {
            let labels = ("labels", m(vec![("by", s("transformer"))]));
            ("LabelTransformer", vec![labels, specs(odd_path(rng, "metadata/labels"), creates())])
        }
        2 => {
            let annotations = ("annotations", m(vec![("by", string(rng))]));
            ("AnnotationsTransformer", vec![annotations, specs(odd_path(rng, "metadata/annotations"), creates())])
        }
        3 => {
            let tag = ("imageTag", m(vec![("name", s("nginx")), ("newTag", s("'9'"))]));
            ("ImageTagTransformer", vec![tag])
        }
        4 => ("PatchTransformer", patches::for_transformer(rng)),
        5 => {
            let path = specs("metadata/namespace", creates());
            let unset_only = ("unsetOnly", s(if rng.bool() { "true" } else { "false" }));
            let mut namespace = object("NamespaceTransformer", name, vec![unset_only, path]);
            if let V::M(entries) = &mut namespace {
                entries[2].1 = m(vec![("name", s("n")), ("namespace", s("prod"))]);
            }
            return namespace;
        }
        6 => {
            let replica = ("replica", m(vec![("name", s("web")), ("count", s("4"))]));
            ("ReplicaCountTransformer", vec![replica, specs("spec/replicas", creates())])
        }
        7 => {
            let path = at_path("metadata/name", vec![("kind", s("ConfigMap"))]);
            ("SuffixTransformer", vec![("suffix", s("-t")), ("fieldSpecs", one(path))])
        }
        _ => ("ValueAddTransformer", value_add(rng)),
    };
    object(kind, name, rest)
}

fn value_add(rng: &mut Rng) -> Vec<(&'static str, V)> {
    let target = m(vec![("fieldPath", s(pick(rng, &["metadata/labels/va", "spec/inner/va"])))]);
    vec![("value", s(pick(rng, &["x", "'1'"]))), ("targets", one(target))]
}

/// Mostly the usual path; the others lead through lists, or are malformed.
fn odd_path<'p>(rng: &mut Rng, usual: &'p str) -> &'p str {
    if !rarely(rng, 4) {
        return usual;
    }
    pick(
        rng,
        &[
            "spec/template/metadata/labels",
            "spec/list[]/x",
            "spec/*/x",
            "spec/inner",
            "spec/template/spec/containers[]/x",
            "*/labels",
        ],
    )
}

/// An item of `transformers`: inline, or a file of one or two.
pub fn transformers(rng: &mut Rng, layer: &mut Layer) -> V {
    let mut documents = vec![transformer(rng)];
    if rarely(rng, 5) {
        documents.push(transformer(rng));
    }
    patches::inline_or_file(rng, layer, "transformer", documents).unwrap_or_else(s)
}

/// An item of `generators`.
pub fn generators(rng: &mut Rng, layer: &mut Layer) -> V {
    let kind = pick(rng, &["ConfigMapGenerator", "SecretGenerator"]);
    let mut documents = vec![object(kind, format!("made{}", rng.u8(..100)), sources(rng))];
    if rarely(rng, 5) {
        documents.push(object("ConfigMapGenerator", "made2".to_owned(), sources(rng)));
    }
    patches::inline_or_file(rng, layer, "generator", documents).unwrap_or_else(s)
}

/// An item of `validators`.
pub fn validators(rng: &mut Rng, layer: &mut Layer) -> V {
    let path = |path, rest| ("fieldSpecs", one(at_path(path, rest)));
    let (kind, rest) = match rng.u8(..3) {
        0 => {
            let labels = ("labels", m(vec![("validated-by", s("v"))]));
            ("LabelTransformer", vec![labels, path("metadata/labels", creates())])
        }
        1 => ("AnnotationsTransformer", vec![("annotations", m(vec![("a", s("b"))]))]),
        _ => ("PrefixTransformer", vec![("prefix", s("''")), path("metadata/name", Vec::new())]),
    };
    patches::inline_or_file(rng, layer, "validator", vec![object(kind, "v".to_owned(), rest)]).unwrap_or_else(s)
}

/// A file of `configurations`.
pub fn configuration(rng: &mut Rng) -> V {
    let widget = |path: &str, create: bool| {
        let mut rest = vec![("kind", s("Widget"))];
        if create {
            rest.push(("create", s("true")));
        }
        at_path(path, rest)
    };
    let reference =
        m(vec![("kind", s("ConfigMap")), ("version", s("v1")), ("fieldSpecs", one(widget("spec/inner/value", false)))]);
    let images = ["spec/list[]/value", "spec/list", "spec/size", "spec/inner/*", "spec/*/value", "spec/list[]"];
    let mut all = vec![
        ("namePrefix", one(widget("spec/inner/name", false))),
        ("varReference", few(rng, |rng| widget(pick(rng, &["spec/size", "spec/inner", "spec/list"]), false))),
        ("commonLabels", one(widget(odd_path(rng, "spec/labels"), true))),
        ("commonAnnotations", one(widget(odd_path(rng, "spec/notes"), true))),
        ("images", one(widget(pick(rng, &images), false))),
        ("nameReference", one(reference)),
        ("namespace", one(widget("spec/inner/namespace", true))),
        ("replicas", one(widget("spec/size", true))),
    ];
    all.retain(|_| rng.bool());
    m(all)
}
