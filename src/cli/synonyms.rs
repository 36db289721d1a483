//! Words of other tools for commands that have another name in this tool.

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

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

/// Adds a tip to the error of an unknown command: the command to run instead if another tool has a
/// command of this name, or the existing commands if none has a similar name. `above` is the
/// command before the word, and `path` its words, which are empty for the program itself.
pub(super) fn explain(mut error: clap::Error, above: &Command, path: &str, program: &str) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    if error.kind() != ErrorKind::InvalidSubcommand {
        return error;
    }
    let meant = WORDS.iter().find(|(above, words, _)| *above == path && words.contains(&word.as_str()));
    let tip = match meant {
        Some((.., command)) => format!("run '{program} {command}'"),
        None if path.is_empty() || error.get(ContextKind::SuggestedSubcommand).is_some() => return error,
        None => {
            let names = above.get_subcommands().filter(|below| !below.is_hide_set()).map(Command::get_name);
            let names: Vec<&str> = names.filter(|name| *name != "help").collect();
            format!("the commands of '{program} {path}': {}", names.join(", "))
        }
    };
    error.remove(ContextKind::SuggestedSubcommand);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    error
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
