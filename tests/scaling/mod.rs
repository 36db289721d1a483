//! Linear time, measured in steps and not by the clock: twice the input may take twice the steps.
//! The meter (`src/meter`) counts them at the bottom.
//!
//! * [`table`]: every field and every stage, alone and in pairs.
//! * [`shapes`]: shapes that were not linear once; [`growth`]: many entries for one resource.
//! * [`random`]: random fields over random shapes.
//! * [`large`]: counts of which each is far beyond what people write.

mod growth;
mod large;
mod random;
mod shapes;
mod table;

use rustomize::load::Memory;
use rustomize::{Options, Workspace, build};
use rustomize_base::meter;
use std::fmt::Write;
use std::num::NonZero;

/// Names and texts of files.
type Files = Vec<(String, String)>;

/// The steps of a build of these files, printing included. It uses one thread: the meter counts the
/// steps of the thread that asks.
fn steps_taken(files: &Files) -> u64 {
    steps_with(files, &Options::default())
}

/// The same with options.
fn steps_with(files: &Files, options: &Options) -> u64 {
    let (files, workspace) = (in_memory(files), Workspace::with_jobs(NonZero::<usize>::MIN));
    meter::reset();
    let output = build(&workspace, &files, "root", options).value.unwrap();
    output.print().unwrap();
    meter::taken()
}

fn in_memory(files: &Files) -> Memory {
    files.iter().map(|(name, text)| (format!("root/{name}"), text.as_str())).collect()
}

/// Applications: a ConfigMap and a Deployment each.
fn resources(n: usize) -> String {
    let mut text = String::new();
    for i in 0..n {
        let _ = write!(
            text,
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{i}\ndata:\n  k: v\n---\napiVersion: apps/v1\nkind: Deployment\n\
             metadata:\n  name: app-{i}\n  labels: {{tier: back}}\nspec:\n  template:\n    spec:\n      containers:\n      - name: main\n        image: hub.example.com/team/app-{i}:1\n        \
             envFrom:\n        - configMapRef:\n            name: settings-{i}\n"
        );
    }
    text
}

/// A kustomization over all applications that has `field` with a line for each.
fn with_entries(n: usize, field: &str, line: impl Fn(usize) -> String) -> String {
    format!("resources: [all.yaml]\n{field}:\n") + &lines(n, line)
}

/// Kustomizations for `n` layers below the root, in directories that the root's `field` lists.
fn layers_of(n: usize, field: &str, own: impl Fn(usize) -> Files) -> Files {
    let mut files = Vec::new();
    for i in 0..n {
        files.extend(own(i).into_iter().map(|(name, text)| (format!("layer-{i}/{name}"), text)));
    }
    files.push(("kustomization.yaml".into(), with_entries(n, field, |i| format!("- layer-{i}\n"))));
    files
}

fn file(name: &str, text: impl Into<String>) -> (String, String) {
    (name.to_owned(), text.into())
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}
