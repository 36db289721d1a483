//! Words of other tools for commands that have another name in this tool.

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use rustomize_base::shell::quoted;

/// The command before the word, the word, and the command to run instead.
const WORDS: &[(&str, &[&str], &str)] = &[
    (
        "",
        &["render", "template", "generate", "kustomize", "run", "print", "show", "expand", "hydrate", "synth"],
        "build DIR",
    ),
    ("", &["apply", "deploy", "sync", "create-resources"], "build DIR | kubectl apply -f -"),
    ("", &["delete", "destroy"], "build DIR | kubectl delete -f -"),
    ("", &["compare", "changes"], "diff DIR DIR"),
    ("", &["dot", "viz", "visualize"], "tree DIR"),
    ("", &["get", "fetch", "pull"], "plugin add SOURCE"),
    ("", &["install"], "plugin install"),
    ("", &["uninstall"], "plugin remove SOURCE"),
    ("", &["upgrade", "update"], "plugin update"),
    ("", &["ls", "list", "plugins"], "plugin list"),
    ("", &["lock", "freeze", "vendir"], "vendor DIR"),
    ("", &["trust"], "plugin trust"),
    ("", &["search"], "plugin add SOURCE"),
    ("", &["add"], "edit add resource FILE"),
    ("", &["set"], "edit set image NAME:TAG"),
    ("", &["rm", "remove"], "edit remove resource FILE"),
    ("", &["fix", "migrate"], "edit fix"),
    ("", &["check", "verify", "test", "vet", "kubeconform"], "validate DIR"),
    ("", &["status", "info", "env", "about"], "doctor"),
    ("", &["why"], "plugin why KIND"),
    ("", &["trace", "blame"], "explain DIR RESOURCE FIELD"),
    ("", &["count"], "cfg count DIR"),
    ("", &["config", "fmt", "format", "cat"], "cfg cat DIR"),
    ("", &["grep", "find"], "cfg grep QUERY DIR"),
    ("", &["roots", "overlays", "environments"], "tree --all DIR"),
    ("", &["unused", "warnings"], "lint DIR"),
    ("", &["schema"], "validate --schema DIR"),
    ("", &["origin", "where", "history"], "explain DIR RESOURCE FIELD"),
    ("", &["new", "scaffold"], "create"),
    ("", &["completions", "autocomplete", "shell-completion"], "completion SHELL"),
    ("plugin", &["get", "fetch", "pull", "require"], "plugin add SOURCE"),
    ("plugin", &["delete", "del", "unlink"], "plugin remove SOURCE"),
    ("plugin", &["init", "create", "scaffold", "generate"], "plugin new DIR"),
    ("plugin", &["show", "info", "inspect", "view"], "plugin describe SOURCE"),
    ("plugin", &["check", "audit", "test"], "plugin verify"),
    ("plugin", &["freeze", "pin"], "plugin lock"),
    ("plugin", &["exec", "call", "invoke"], "plugin run FILE"),
    ("plugin", &["clean", "gc", "tidy", "autoremove"], "plugin prune"),
    ("plugin", &["pack", "publish", "release"], "plugin package DIR"),
    ("plugin", &["outdated", "status"], "plugin list"),
    ("cfg", &["fmt", "format", "print"], "cfg cat DIR"),
    ("edit set", &["tag", "digest"], "edit set image NAME:TAG"),
    ("edit add", &["file", "files"], "edit add resource FILE"),
];

/// The commands, the flags of other tools, and the way to do here what such a flag does there.
const FLAGS: &[(&[&str], &[&str], &str)] = &[
    (BUILDING, &["-k", "--kustomize", "-f", "--filename", "--file", "--path"], "the directory needs no flag: %"),
    (WITH_ALL, &["-R", "--recursive"], "take every kustomization at and below a directory: % --all"),
    (BUILDING, &["-n", "--namespace"], "write it into the kustomization: rustomize edit set namespace NAME"),
    (BUILDING, &["--image", "--images"], "write it into the kustomization: rustomize edit set image NAME:TAG"),
    (BUILDING, &["--set", "--set-string"], "values of a chart are in 'valuesInline' of its entry in 'helmCharts'"),
    (BUILDING, &["--values"], "a file with values of a chart is 'valuesFile' of its entry in 'helmCharts'"),
    (&["build"], &["--dry-run"], "leave it out: a build changes nothing"),
    (&["build"], &["-w", "--watch"], "run 'rustomize watch DIR'"),
    (&["build"], &["--validate", "--schema"], "run 'rustomize validate --schema DIR'"),
    (&["promote"], &["--from", "--to"], "the directories need no flags: rustomize promote FROM TO"),
    (&["affected"], &["--all"], "--in DIR names the directory to look below; it is the working directory otherwise"),
];

/// The commands that read kustomizations, and those of them that have the flag --all.
const BUILDING: &[&str] = &["build", "lint", "validate", "diff", "vendor", "tree", "explain", "watch"];
const WITH_ALL: &[&str] = &["build", "lint", "validate", "diff", "vendor", "tree"];

/// Adds a tip to the error of an unknown command: the command to run instead if another tool has a
/// command of this name, or the existing commands if none has a similar name. `above` is the
/// command before the word, and `path` its words, which are empty for the program itself.
pub(super) fn explain(mut error: clap::Error, above: &Command, path: &str, program: &str) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    if error.kind() != ErrorKind::InvalidSubcommand {
        return error;
    }
    let meant = WORDS.iter().find(|(above, words, _)| *above == path && words.contains(&word.as_str()));
    let is_directory = path.is_empty() && word.contains(['/', '.']);
    let tip = match meant {
        Some((.., command)) => format!("run '{program} {command}'"),
        None if is_directory => format!("run '{program} build {}'", quoted(word)),
        None if path.is_empty() || error.get(ContextKind::SuggestedSubcommand).is_some() => return error,
        None => {
            let names = above.get_subcommands().filter(|below| !below.is_hide_set()).map(Command::get_name);
            let names: Vec<&str> = names.filter(|name| *name != "help").collect();
            match names.is_empty() {
                true => format!("see all commands: {program} --help"),
                false => format!("the commands of '{program} {path}': {}", names.join(", ")),
            }
        }
    };
    error.remove(ContextKind::SuggestedSubcommand);
    with_tip(error, tip)
}

fn with_tip(mut error: clap::Error, tip: String) -> clap::Error {
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    error
}

/// Adds a tip to the error of a flag of another tool, and of a word that belongs to the word
/// before. `path` has the words of the command.
pub(super) fn explain_foreign_flag(error: clap::Error, path: &str, program: &str) -> clap::Error {
    let tip = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(typed)) if error.kind() == ErrorKind::UnknownArgument => {
            let flag = typed.split('=').next().unwrap_or_default();
            let known = FLAGS.iter().find(|(commands, flags, _)| commands.contains(&path) && flags.contains(&flag));
            match known {
                Some((.., tip)) => tip.replace('%', &format!("{program} {path} DIR")),
                None if path == "plugin why" && !typed.starts_with('-') => {
                    format!("write the apiVersion and the kind as one word: example.com/v1/{typed}")
                }
                None => return error,
            }
        }
        _ if path == "explain" && error.kind() == ErrorKind::TooManyValues => {
            "write the kind and the name as one word, as in Deployment/web".to_owned()
        }
        _ => return error,
    };
    with_tip(error, tip)
}

/// Names the flag of a command that a mistyped flag is a part of, as `--enable-helm` for `--helm`:
/// the spelling alone would suggest `--help`.
pub(super) fn explain_flag(mut error: clap::Error, command: &Command) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return error };
    if error.kind() != ErrorKind::UnknownArgument || !typed.starts_with("--") {
        return error;
    }
    let flags = command.get_arguments().filter(|flag| !flag.is_hide_set()).filter_map(|flag| flag.get_long());
    if let Some(flag) = containing(typed.trim_start_matches('-'), flags) {
        let flag = format!("--{flag}");
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::SuggestedArg, ContextValue::String(flag));
    }
    error
}

/// The shortest flag that has all words of a typed one; a flag that enables something comes first.
fn containing<'f>(typed: &str, flags: impl Iterator<Item = &'f str>) -> Option<&'f str> {
    let has = |flag: &str, word: &str| flag.split('-').any(|part| part == word);
    let has_all = |flag: &&str| typed.split('-').all(|word| !word.is_empty() && has(flag, word));
    flags.filter(has_all).min_by_key(|flag| (!flag.starts_with("enable-"), flag.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::program;
    use std::collections::BTreeSet;

    #[test]
    fn a_flag_is_found_by_a_part_of_it() {
        let flags = ["help", "enable-helm", "helm-command", "enable-alpha-plugins", "plugin-timeout", "output"];
        let found = |typed| containing(typed, flags.into_iter());
        assert_eq!(found("helm"), Some("enable-helm"));
        assert_eq!(found("plugins"), Some("enable-alpha-plugins"));
        assert_eq!(found("plugin"), Some("plugin-timeout"));
        assert_eq!((found("hel"), found("helm-version"), found("")), (None, None, None));
    }

    #[test]
    fn no_flag_of_another_tool_is_a_flag_of_the_command() {
        let mut program = program(crate::invoked_as::InvokedAs::Rustomize);
        program.build();
        for (commands, flags, _) in FLAGS {
            for command in *commands {
                let command = program.find_subcommand(command).unwrap();
                for flag in *flags {
                    let is_flag = |known: &clap::Arg| {
                        let long = known.get_long().is_some_and(|long| flag.strip_prefix("--") == Some(long));
                        long || known.get_short().is_some_and(|short| *flag == format!("-{short}"))
                    };
                    assert!(!command.get_arguments().any(is_flag), "'{} {flag}' is a flag", command.get_name());
                }
            }
        }
    }

    #[test]
    fn every_tip_names_a_command_and_no_word_is_a_command() {
        let mut program = program(crate::invoked_as::InvokedAs::Rustomize);
        program.build();
        let mut seen = BTreeSet::new();
        for (path, words, command) in WORDS {
            let above = path.split_whitespace().fold(&program, |above, word| above.find_subcommand(word).unwrap());
            for word in *words {
                assert!(above.find_subcommand(word).is_none(), "'{path} {word}' is a command");
                assert!(seen.insert((path, word)), "'{path} {word}' comes twice");
            }
            let named = command.split(' ').take_while(|word| word.chars().all(|c| c.is_ascii_lowercase()));
            let found = named.fold(&program, |above, word| above.find_subcommand(word).unwrap());
            assert!(found.get_name() != "rustomize", "{command}");
        }
    }
}
