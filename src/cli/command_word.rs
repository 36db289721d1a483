//! Finds the command among the arguments, as kustomize does: flags may come before it.

use clap::{Arg, Command};
use std::ffi::OsString;

/// The arguments, without the program's name, with the command in front of the flags that come
/// before it. Flags that come first belong to the command. An argument behind a flag that is
/// unknown or takes a value is that value, as in `-o FILE build`, and no command. Behind `--`, and
/// where help is asked for first, no command is looked for.
pub fn first(mut arguments: Vec<OsString>, program: &Command) -> Vec<OsString> {
    if let Some(at) = place(&arguments, program) {
        arguments[..=at].rotate_right(1);
    }
    arguments
}

fn place(arguments: &[OsString], program: &Command) -> Option<usize> {
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        match argument.to_str()? {
            "--" | "-h" | "--help" => return None,
            flag if flag.starts_with('-') => at += if takes_next(flag, program) { 2 } else { 1 },
            _ => return Some(at),
        }
    }
    None
}

/// Whether the argument behind a flag is its value.
fn takes_next(flag: &str, program: &Command) -> bool {
    if flag.contains('=') {
        return false;
    }
    let is_meant = |argument: &&Arg| match flag.strip_prefix("--") {
        Some(long) => {
            argument.get_long() == Some(long) || argument.get_all_aliases().unwrap_or_default().contains(&long)
        }
        None => argument.get_short().is_some_and(|short| flag.strip_prefix('-') == Some(short.to_string().as_str())),
    };
    let known =
        std::iter::once(program).chain(program.get_subcommands()).find_map(|c| c.get_arguments().find(is_meant));
    match known {
        Some(argument) => argument.get_action().takes_values() && !argument.is_require_equals_set(),
        // Of `-ofile` the rest is the value.
        None => flag.starts_with("--") || flag.len() == 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &str, want: &str) {
        let program = crate::cli::args::program();
        let words = arguments.split_whitespace().map(OsString::from).collect();
        let found: Vec<String> = first(words, &program).iter().map(|w| w.to_string_lossy().into_owned()).collect();
        assert_eq!(found.join(" "), want, "{arguments}");
    }

    #[test]
    fn flags_before_the_command() {
        check("build -o x .", "build -o x .");
        check("-o x build .", "build -o x .");
        check("-o build build .", "build -o build .");
        check("-obuild build .", "build -obuild .");
        check("--output x build .", "build --output x .");
        check("--output=x build --enable-helm .", "build --output=x --enable-helm .");
        check("--stack-trace build .", "build --stack-trace .");
        check("--enable-helm --enable_alpha_plugins=true build .", "build --enable-helm --enable_alpha_plugins=true .");
        check("--load-restrictor LoadRestrictionsNone build", "build --load-restrictor LoadRestrictionsNone");
        check("--unknown build .", ". --unknown build");
        check("-- build .", "-- build .");
        check("-h build", "-h build");
        check("--stack-trace", "--stack-trace");
        check("-o build", "-o build");
        check("", "");
    }
}
