//! The name hash of resources that are neither ConfigMap nor Secret: random resources, built by us
//! and by kustomize, where it is in PATH. `RUSTOMIZE_TREES=2000` builds that many.

use crate::random_text::{self, Parts};
use crate::support::{Tree, in_path, run};
use std::process::Command;

const HEAD: &str = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j\n  annotations: \
    {internal.config.kubernetes.io/needsHashSuffix: enabled}\nspec:\n";

/// All that can change a hash: texts of all styles, anchors, tags.
const PARTS: Parts = Parts {
    values: &[
        "1",
        "b",
        "'it''s'",
        "\"a\\tb\"",
        "plain text",
        "~",
        "",
        "[1, {a: b}]",
        "{}",
        "[]",
        "true",
        "1.5",
        "\"#no\"",
        "0x1F",
        "2001-01-01",
        "\"é<&>\"",
        "{a: 1, \"b\": [x], c: }",
        "!!str 5",
        "&a v",
        "yes",
        "\"multi\n      line\"",
        "long plain\n      text",
        // For kustomize, these characters end a line.
        "\"\u{85}\"",
        "'a\u{2028}b'",
        "\"a\u{2029}b\"",
        "\"a\u{2028}\u{2029} b\"",
    ],
    blocks: &["|", ">-", "|+", ">"],
    has_left_comments: true,
};

fn name(printed: &str) -> Option<&str> {
    printed.lines().find(|line| line.starts_with("  name: j-"))
}

#[test]
fn random_resources_have_the_hashes_of_kustomize() {
    let Some(kustomize) = in_path("kustomize") else { return println!("not compared: no kustomize in PATH") };
    let trees = std::env::var_os("RUSTOMIZE_TREES").and_then(|n| n.into_string().ok()?.parse().ok()).unwrap_or(40);
    let mut compared = 0;
    for seed in 0..trees {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut document = HEAD.to_owned();
        random_text::write(PARTS, &mut rng, 1, 2, &mut document);
        let before = ["", "# head\n\n", "kind: X\nmetadata: {name: x}\n--- # next\n"][rng.usize(..3)];
        let tree = Tree::new("-- kustomization.yaml --\nresources: [j.yaml]\n");
        tree.write("j.yaml", &format!("{before}{document}"));
        #[expect(clippy::disallowed_methods, reason = "kustomize is what we compare with")]
        let theirs = run(Command::new(&kustomize).arg("build").arg(tree.path()));
        let ours = tree.run(&["build"]);
        assert_eq!(ours.status, theirs.status, "{seed}:\n{before}{document}\n{}{}", ours.stderr, theirs.stderr);
        assert_eq!(name(&ours.stdout), name(&theirs.stdout), "{seed}:\n{before}{document}");
        compared += usize::from(theirs.status == Some(0));
    }
    assert!(compared * 3 > trees as usize, "of {trees} trees only {compared} can be built");
}
