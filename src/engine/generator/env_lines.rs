//! Lines of env files that kustomize reads in another way than their writer most likely meant.

use super::key_values::{MAX_ENV_LINE, Pair, file_source};
use crate::config::kustomization::GeneratorArgs;
use crate::diag::{Code, Mend, Warning, cause, is_placeholder};
use crate::load::Root;
use crate::schema::is_data_key;
use crate::stage::{Build, Context};
use rustomize_yaml::Source;
use std::rc::Rc;

/// Adds findings about the lines of the env files of a ConfigMap, if findings are asked for.
/// O(size of the files).
pub(super) fn find<'a>(build: &mut Build<'a>, root: &Root, args: &GeneratorArgs<'a>) {
    let cx = Rc::clone(&build.cx);
    build.find(|| sources(&cx, root, args).flat_map(lines).collect::<Vec<_>>());
}

/// As [`find`], for a Secret: lines are never shown, and each file with a value is a finding.
pub(super) fn find_in_secret<'a>(build: &mut Build<'a>, root: &Root, args: &GeneratorArgs<'a>) {
    let cx = Rc::clone(&build.cx);
    build.find(|| {
        let found = sources(&cx, root, args).flat_map(|source| lines(source).into_iter().chain(clear_text(source)));
        found.map(Warning::without_line).collect::<Vec<_>>()
    });
}

/// Adds a finding for each file among the sources of an entry that has a conflict marker of git,
/// if findings are asked for. O(size of the files).
pub(super) fn find_conflicts<'a>(build: &mut Build<'a>, root: &Root, args: &GeneratorArgs<'a>, pairs: &[Pair<'a>]) {
    let cx = Rc::clone(&build.cx);
    build.find(|| {
        let marked = pairs.iter().filter(|pair| cause::conflict_marker(&pair.value).is_some());
        let sources = marked.filter_map(|pair| {
            let source = args.files.iter().find(|source| source.pos == pair.pos)?;
            cx.files.text(root, file_source(source).ok()?.1).ok()
        });
        sources.filter_map(cause::conflict).map(Warning::without_line).collect::<Vec<_>>()
    });
}

/// The env files of an entry.
fn sources<'a>(cx: &Context<'a>, root: &Root, args: &GeneratorArgs<'a>) -> impl Iterator<Item = &'a Source> {
    args.envs.iter().filter_map(move |path| cx.files.text(root, path).ok())
}

/// The finding about the first line of an env file that has a value.
fn clear_text(source: &Source) -> Option<Warning> {
    let has_value = |line: &&str| {
        let value = line.trim_start().split_once('=').map_or("", |(_, value)| value.trim());
        !line.trim_start().starts_with('#') && !value.is_empty() && !is_placeholder(value)
    };
    let line = source.text.lines().find(has_value)?;
    let at = line.as_ptr().addr() - source.text.as_ptr().addr();
    let message = "the env file of a Secret has values in clear text";
    Some(Warning::new(Code::ClearTextSecret, message).at(source.pos(at)))
}

/// The findings about the lines of an env file. Values are not in the messages: they may be secret.
fn lines(source: &Source) -> Vec<Warning> {
    // The lines of a conflict are no other mistake.
    let mut found: Vec<Warning> = cause::conflict(source).into_iter().collect();
    if !found.is_empty() {
        return found;
    }
    let mut start = 0;
    for raw in source.text.split_inclusive('\n') {
        let line = raw.trim_end_matches('\n');
        if line.len() > MAX_ENV_LINE {
            let message = "the line is too long: kustomize ignores it and all lines below it";
            found.push(finding(
                source,
                start,
                message,
                "put the value into a file of its own, and name it under 'files'",
            ));
            break;
        }
        let rest = line.trim_start();
        let at = start + line.len() - rest.len();
        if !rest.is_empty() && !rest.starts_with('#') {
            found.extend(of_line(source, at, rest));
        }
        start += raw.len();
    }
    found
}

fn finding(source: &Source, at: usize, message: &str, hint: &str) -> Warning {
    Warning::new(Code::EnvSyntax, message).at(source.pos(at)).hint(hint)
}

/// The finding about a line that begins at an offset.
fn of_line(source: &Source, at: usize, line: &str) -> Option<Warning> {
    let Some((key, value)) = line.split_once('=') else { return Some(without_value(source, at, line)) };
    if key.is_empty() {
        return Some(finding(
            source,
            at,
            "kustomize ignores a line without a key",
            "write the key in front of the '='",
        ));
    }
    if let Some(name) = key.strip_prefix("export ") {
        let hint = format!("remove 'export': {}=", name.trim());
        let finding = finding(source, at, "'export' is read as a part of the key", &hint);
        return Some(if is_data_key(name) { finding.mended(Mend::text("export ", "")) } else { finding });
    }
    if !is_data_key(key) {
        let message = "Kubernetes refuses the key of this line";
        let hint = "a key has letters, digits, '-', '_' and '.', and no blank follows it";
        return Some(finding(source, at, message, hint));
    }
    let at = at + key.len() + 1;
    if let Some(inner) = quoted(value) {
        let finding = finding(source, at, "the quotes become a part of the value", "remove the quotes");
        return Some(finding.mended(Mend::text(value, inner)));
    }
    let comment = value.find(" # ").filter(|_| !value.trim_start().starts_with(['{', '[', '"', '\'']))?;
    let message = "the comment becomes a part of the value";
    Some(finding(source, at + comment + 1, message, "put the comment into a line of its own"))
}

/// The finding about a line without `=`.
fn without_value(source: &Source, at: usize, line: &str) -> Warning {
    let key = line.split_once(": ").map(|(key, _)| key).filter(|key| is_data_key(key));
    match key {
        Some(key) => {
            let hint = format!("write: {key}=VALUE");
            let finding = finding(source, at, "the line is read as a key without a value", &hint);
            finding.mended(Mend::text(format!("{key}: "), format!("{key}=")))
        }
        None if is_data_key(line) => finding(
            source,
            at,
            "the value is empty: kustomize does not read it from the environment",
            "write '=' behind the key if it is meant to be empty",
        ),
        None => finding(source, at, "the line is read as a key, which Kubernetes refuses", "write: KEY=VALUE"),
    }
}

/// The text inside of quotes, if all of a value is in them and needs none.
fn quoted(value: &str) -> Option<&str> {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = value.trim_end().strip_prefix(quote)?.strip_suffix(quote)?;
    (!inner.contains(['"', '\'', '\\'])).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustomize_yaml::Heap;
    use rustomize_yaml::encoding::Text;

    /// The beginning of the message and the text at its place, if a line has a finding.
    #[track_caller]
    fn check(line: &str, want: Option<(&str, &str)>) {
        let heap = Heap::new();
        let source = heap.arena().add_file("a.env", Text::from(line.to_owned()));
        let found = Warning::located(lines(source), &heap);
        let found = found.first().map(|f| (f.message(), f.place().unwrap().column));
        match (found, want) {
            (None, None) => {}
            (Some((message, column)), Some((words, at))) => {
                assert!(message.starts_with(words), "{line}: {message}");
                assert_eq!(&line[column - 1..][..at.len()], at, "{line}");
            }
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn lines_of_env_files() {
        for line in
            ["A=1", "# export A=1", "  a.b-c_D=x y", "A=", "A={\"a\": \"b\"}", "A=\"a\" \"b\"", "A=x#y", "A=[1] # x"]
        {
            check(line, None);
        }
        check("export A=1", Some(("'export' is read", "export")));
        check("A: 1", Some(("the line is read as a key without", "A:")));
        check("A", Some(("the value is empty", "A")));
        check("s3cr3t+/=", Some(("Kubernetes refuses the key", "s3cr3t")));
        check("two words", Some(("the line is read as a key, which", "two")));
        check("=1", Some(("kustomize ignores a line", "=")));
        check(" A =1", Some(("Kubernetes refuses the key", "A ")));
        check("A=\"1\"", Some(("the quotes become", "\"1\"")));
        check("A='1' ", Some(("the quotes become", "'1'")));
        check("A=1 # one", Some(("the comment becomes", "# one")));
        check(&"x".repeat(MAX_ENV_LINE + 1), Some(("the line is too long", "x")));
    }
}
