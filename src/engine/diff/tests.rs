//! Pairs, fields, labels and counts of small lists, and steps of large ones.

use super::{Change, Difference, Masks, Summary, compare};
use crate::diag::Error;
use crate::resource::Resource;
use crate::schema::Schemas;
use crate::stage::documents::resources_in;
use rustomize_base::meter;
use rustomize_yaml::{Arena, Heap, Node, json};

fn read<'a>(arena: Arena<'a>, text: &str) -> Vec<Resource<'a>> {
    let source = arena.add_source("test", text.to_owned());
    resources_in(arena, source, |m| Error::input(m.message)).unwrap().all
}

/// The differences, a line each.
fn shown(before: &str, after: &str) -> Vec<String> {
    let heap = Heap::new();
    let arena = heap.arena();
    let (mut before, mut after) = (read(arena, before), read(arena, after));
    let mut masks = Masks::new(arena);
    before.iter_mut().chain(&mut after).for_each(|resource| masks.hide(resource));
    let schemas = Schemas::default();
    let changes = compare(&before, &after, &schemas);
    let mut lines = Vec::new();
    for change in &changes.resources {
        let name = |resource: &Resource<'_>| {
            format!("{} {}/{}", resource.id().gvk.kind, resource.id().namespace, resource.id().name)
        };
        match change {
            Change::Added(resource) => lines.push(format!("+ {}", name(resource))),
            Change::Removed(resource) => lines.push(format!("- {}", name(resource))),
            Change::Changed { before, after, matched, fields } => {
                lines.push(format!("{} {} > {}", matched.as_str(), name(before), name(after)));
                for field in fields {
                    let json = |node: Option<&Node<'_>>| {
                        let mut text = String::new();
                        node.into_iter().for_each(|node| json::write_exact(&mut text, node));
                        text
                    };
                    let text = match field.difference {
                        Difference::Value { old, new } => format!("{} > {}", json(old), json(new)),
                        Difference::Order { .. } => "order".to_owned(),
                    };
                    let follows = if field.follows { " follows" } else { "" };
                    lines.push(format!("  {}: {text}{follows}", field.path));
                }
            }
        }
    }
    lines
}

#[track_caller]
fn check(before: &str, after: &str, want: &[&str]) {
    assert_eq!(shown(before, after), want);
}

/// A Deployment with these containers.
fn deployment(name: &str, pod: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec: {{replicas: 2, template: {{spec: {pod}}}}}\n"
    )
}

/// A ConfigMap with this data.
fn map(name: &str, data: &str) -> String {
    format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{{data}}}\n")
}

#[test]
fn the_same_values_are_the_same_however_they_are_written() {
    check(&(map("a", "k: v") + &map("b", "k: 'x'")), &(map("b", "\"k\": x") + &map("a", "k: v")), &[]);
    check("", "", &[]);
    check(&map("a", "k: '1'"), &map("a", "k: 1"), &["identity ConfigMap /a > ConfigMap /a", "  data.k: \"1\" > 1"]);
}

#[test]
fn resources_are_added_and_removed() {
    check(&map("a", "k: v"), &map("b", "other: x"), &["- ConfigMap /a", "+ ConfigMap /b"]);
}

#[test]
fn a_name_hash_makes_no_other_resource_and_names_follow() {
    let pod = |name: &str| format!("{{volumes: [{{name: v, configMap: {{name: {name}}}}}]}}");
    let before = map("settings-6ct58987ht", "k: v") + &deployment("web", &pod("settings-6ct58987ht"));
    let after = map("settings-g9t7h2bk8m", "k: w") + &deployment("web", &pod("settings-g9t7h2bk8m"));
    check(
        &before,
        &after,
        &[
            "hash ConfigMap /settings-6ct58987ht > ConfigMap /settings-g9t7h2bk8m",
            "  data.k: \"v\" > \"w\"",
            "identity Deployment /web > Deployment /web",
            "  spec.template.spec.volumes[name=v].configMap.name: \"settings-6ct58987ht\" > \"settings-g9t7h2bk8m\" follows",
        ],
    );
    // The hash can be turned off.
    check(
        &map("settings-6ct58987ht", "k: v"),
        &map("settings", "k: v"),
        &["hash ConfigMap /settings-6ct58987ht > ConfigMap /settings"],
    );
}

#[test]
fn renamed_and_moved_resources_are_found() {
    let in_namespace = |name: &str, namespace: &str| {
        format!(
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {{ports: [{{port: 80}}], selector: {{app: {name}}}}}\n"
        )
    };
    check(&in_namespace("web", "a"), &in_namespace("web", "b"), &["namespace Service a/web > Service b/web"]);
    let big = |name: &str, value: &str| map(name, &format!("a: '1', b: '2', c: '3', d: '4', e: {value}"));
    check(
        &(big("old", "x") + &map("other", "z: z")),
        &(big("new", "y") + &map("other", "z: z")),
        &["rename ConfigMap /old > ConfigMap /new", "  data.e: \"x\" > \"y\""],
    );
    // The pair that is most alike comes first, whatever the order.
    check(
        &(big("one", "x") + &map("two", "a: '1', b: '2', c: '3', p: p, q: q")),
        &(map("three", "a: '1', b: '2', c: '3', p: p, q: r") + &big("four", "y")),
        &[
            "rename ConfigMap /one > ConfigMap /four",
            "  data.e: \"x\" > \"y\"",
            "rename ConfigMap /two > ConfigMap /three",
            "  data.q: \"q\" > \"r\"",
        ],
    );
    // Another prefix renames all resources, also without content.
    let account = |name: &str| format!("---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: {name}}}\n");
    check(
        &(big("test-web", "x") + &account("test-web") + &map("test-small-6ct58987ht", "a: b")),
        &(big("prod-web", "x") + &account("prod-web") + &map("prod-small-g9t7h2bk8m", "c: d")),
        &[
            "rename ConfigMap /test-small-6ct58987ht > ConfigMap /prod-small-g9t7h2bk8m",
            "  data.a: \"b\" > ",
            "  data.c:  > \"d\"",
            "rename ConfigMap /test-web > ConfigMap /prod-web",
            "rename ServiceAccount /test-web > ServiceAccount /prod-web",
        ],
    );
    check(
        "apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: web}\n",
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\n",
        &["group Ingress /web > Ingress /web", "  apiVersion: \"extensions/v1beta1\" > \"networking.k8s.io/v1\""],
    );
}

#[test]
fn lists_of_known_kinds_are_matched_by_their_keys() {
    let pod = |list: &str| deployment("web", &format!("{{containers: [{list}]}}"));
    let head = "identity Deployment /web > Deployment /web";
    check(
        &pod("{name: a, image: 'a:1'}, {name: b, image: 'b:1'}"),
        &pod("{name: new, image: 'n:1'}, {name: a, image: 'a:2'}"),
        &[
            head,
            "  spec.template.spec.containers[name=new]:  > {\"image\":\"n:1\",\"name\":\"new\"}",
            "  spec.template.spec.containers[name=a].image: \"a:1\" > \"a:2\"",
            "  spec.template.spec.containers[name=b]: {\"image\":\"b:1\",\"name\":\"b\"} > ",
        ],
    );
    check(
        &pod("{name: a}, {name: b}"),
        &pod("{name: b}, {name: a}"),
        &[head, "  spec.template.spec.containers: order"],
    );
    // A list without keys.
    check(
        &pod("{name: a, args: [-v, one, two, three]}"),
        &pod("{name: a, args: [one, 2, three, -x]}"),
        &[
            head,
            "  spec.template.spec.containers[name=a].args[0]: \"-v\" > ",
            "  spec.template.spec.containers[name=a].args[1]: \"two\" > 2",
            "  spec.template.spec.containers[name=a].args[3]:  > \"-x\"",
        ],
    );
    // The protocol is a key, too, which may be left out.
    check(
        &pod("{name: a, ports: [{containerPort: 80}]}"),
        &pod("{name: a, ports: [{containerPort: 80, protocol: TCP}]}"),
        &[head, "  spec.template.spec.containers[name=a].ports[containerPort=80,protocol=TCP].protocol:  > \"TCP\""],
    );
}

#[test]
fn values_of_secrets_are_labels() {
    let secret = |data: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: s, annotations: {{kubectl.kubernetes.io/last-applied-configuration: '{data}'}}}}\ndata: {{{data}}}\nstringData: [hidden]\n"
        )
    };
    let lines = shown(&secret("a: cGFzcw==, b: cGFzcw==, c: eA=="), &secret("a: cGFzcw==, b: bmV3, c: [eA==]"));
    assert!(
        lines.iter().all(|line| !line.contains("cGFz") && !line.contains("bmV3") && !line.contains("eA")),
        "{lines:?}"
    );
    assert!(lines.iter().any(|line| line.starts_with("  data.b: \"(masked ")), "{lines:?}");
    assert!(!lines.iter().any(|line| line.starts_with("  data.a")), "{lines:?}");
}

#[test]
fn the_summary_counts() {
    let heap = Heap::new();
    let arena = heap.arena();
    let pod = |image: &str| {
        deployment(
            "web",
            &format!(
                "{{containers: [{{name: a, image: '{image}'}}], initContainers: [{{name: i, image: '{image}'}}]}}"
            ),
        )
    };
    let before = read(arena, &(pod("n:1") + &map("a", "k: v") + &map("same", "s: s")));
    let after = read(arena, &(pod("n:2") + &map("b", "x: y") + &map("same", "s: s")));
    let schemas = Schemas::default();
    let summary = Summary::of(&compare(&before, &after, &schemas));
    let images = [(("n:1".to_owned(), "n:2".to_owned()), 2)].into_iter().collect();
    assert_eq!(summary, Summary { added: 1, removed: 1, changed: 1, same: 1, images, ..Summary::default() });
}

/// The steps of comparing resources that all differ, of which a half are renamed, and lists without
/// keys.
fn steps(n: usize, make: impl Fn(usize, bool) -> String) -> u64 {
    let heap = Heap::new();
    let arena = heap.arena();
    let text = |is_after: bool| (0..n).map(|i| make(i, is_after)).collect::<String>();
    let (before, after) = (read(arena, &text(false)), read(arena, &text(true)));
    let schemas = Schemas::default();
    meter::reset();
    let changes = compare(&before, &after, &schemas);
    assert!(!changes.resources.is_empty());
    meter::taken()
}

/// Four times as many resources, or items, take at most five times as many steps.
#[test]
fn the_work_grows_as_the_resources_do() {
    let check = |name: &str, make: &dyn Fn(usize, bool) -> String| {
        let (few, many) = (steps(100, make), steps(400, make));
        assert!(many <= 5 * few, "{name}: {few} steps for 100, {many} for 400");
    };
    let pod = |i: usize, tag: u8| format!("{{containers: [{{name: c, image: 'app-{i}:{tag}', args: [a, b, '{i}']}}]}}");
    check("changed", &|i, is_after| deployment(&format!("web-{i}"), &pod(i, u8::from(is_after))));
    check("renamed", &|i, is_after| deployment(&format!("{}-{i}", if is_after { "new" } else { "old" }), &pod(i, 1)));
    check("hashes", &|i, is_after| {
        map(&format!("m-{i}-{}", if is_after { "6ct58987ht" } else { "g9t7h2bk8m" }), "k: v")
    });
    check("all alike", &|i, is_after| map(&format!("m{i}{is_after}"), &format!("k: v, l: v, m: {is_after}")));
    check("nothing alike", &|i, is_after| map(&format!("m{i}{is_after}"), &format!("k{i}{is_after}: v")));
}

#[test]
fn the_work_grows_as_lists_and_texts_do() {
    let list = |n: usize, f: &dyn Fn(usize, bool) -> String| {
        steps(1, |_, is_after| {
            let items: Vec<String> = (0..n).map(|i| f(i, is_after)).collect();
            format!("---\napiVersion: ex.io/v1\nkind: X\nmetadata: {{name: x}}\nlist: [{}]\n", items.join(", "))
        })
    };
    let check = |name: &str, f: &dyn Fn(usize, bool) -> String| {
        let (few, many) = (list(200, f), list(800, f));
        assert!(many <= 5 * few, "{name}: {few} steps for 200, {many} for 800");
    };
    check("one by one", &|i, is_after| format!("{{name: n{i}, value: {is_after}}}"));
    check("every second", &|i, is_after| format!("{{name: n{i}, value: {}}}", is_after && i % 2 == 0));
    check("reversed", &|i, is_after| {
        if is_after { format!("{}", 10_000 - i) } else { format!("{}", 10_000 - 800 + i) }
    });
    check("all the same", &|i, is_after| if is_after && i == 0 { "y".into() } else { "x".into() });
    let comb = |depth: usize| {
        steps(1, |_, is_after| {
            let deep = (0..depth).fold(is_after.to_string(), |inner, i| format!("[{i}, {inner}]"));
            format!("apiVersion: ex.io/v1\nkind: X\nmetadata: {{name: x}}\nlist: {deep}\n")
        })
    };
    let (few, many) = (comb(100), comb(400));
    assert!(many <= 5 * few, "nested: {few} steps for 100, {many} for 400");
}

#[test]
fn content_that_a_config_map_seals_is_marked() {
    let marked = |before: &str, after: &str| {
        let heap = Heap::new();
        let (before, after) = (read(heap.arena(), before), read(heap.arena(), after));
        let schemas = Schemas::default();
        let changes = compare(&before, &after, &schemas);
        let Some(Change::Changed { fields, .. }) = changes.resources.first() else { panic!("no change") };
        fields.iter().map(|field| (field.path.to_string(), field.is_unchangeable)).collect::<Vec<_>>()
    };
    let map = |rest: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, labels: {{a: {rest}\n");
    let (one, two) = ("x}}\nimmutable: true\ndata: {a: b}", "y}}\nimmutable: true\ndata: {a: c}");
    assert_eq!(marked(&map(one), &map(two)), [("data.a".into(), true), ("metadata.labels.a".into(), false)]);
    let (one, two) = ("x}}\ndata: {a: b}", "x}}\nimmutable: true\ndata: {a: c}");
    assert_eq!(marked(&map(one), &map(two)), [("data.a".into(), false), ("immutable".into(), false)]);
}
