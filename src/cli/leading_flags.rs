//! Finds the command among the arguments, as kustomize does: flags may come before it.

use clap::{Arg, Command};
use std::ffi::OsString;

/// The arguments, without the program's name, with each command moved before the flags that precede
/// it: `--output FILE build` becomes `build --output FILE`, and `edit --stack-trace set` becomes
/// `edit set --stack-trace`. Flags that come first belong to the last command. An argument after a
/// flag that is unknown or takes a value is that value, as in `-o FILE build`, and not a command.
/// After `--`, and if help is asked for first, no command is searched.
pub(super) fn first(mut arguments: Vec<OsString>, program: &Command) -> Vec<OsString> {
    // The definitions of flags are made only if flags come first: most calls begin with a command.
    let mut built = None;
    let mut path = Vec::new();
    while PARENTS.contains(&path.join(" ").as_str()) {
        let rest = &mut arguments[path.len()..];
        let Some(word) = rest.first() else { break };
        if word.as_encoded_bytes().starts_with(b"-") {
            let program = built.get_or_insert_with(|| {
                let mut program = program.clone();
                program.build();
                program
            });
            let command = path.iter().try_fold(&*program, |above, name: &String| above.find_subcommand(name));
            let Some(at) = command.and_then(|command| place(rest, command)) else { break };
            rest[..=at].rotate_right(1);
        }
        path.push(rest[0].to_string_lossy().into_owned());
    }
    arguments
}

/// The commands that have commands of their own.
const PARENTS: [&str; 12] =
    ["", "edit", "edit add", "edit set", "edit remove", "images", "hook", "plugin", "cache", "cfg", "fn", "openapi"];

fn place(arguments: &[OsString], command: &Command) -> Option<usize> {
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        match argument.to_str()? {
            "--" | "-h" | "--help" | "-V" | "--version" => return None,
            flag if flag.starts_with('-') => at += if takes_next(flag, command) { 2 } else { 1 },
            _ => return Some(at),
        }
    }
    None
}

/// Returns true if the argument after a flag is its value.
fn takes_next(flag: &str, command: &Command) -> bool {
    if flag.contains('=') {
        return false;
    }
    let is_meant = |argument: &Arg| match flag.strip_prefix("--") {
        Some(long) => {
            argument.get_long() == Some(long) || argument.get_all_aliases().unwrap_or_default().contains(&long)
        }
        None => argument.get_short().is_some_and(|short| flag.strip_prefix('-') == Some(short.to_string().as_str())),
    };
    match find(command, &is_meant) {
        Some(argument) => argument.get_action().takes_values() && !argument.is_require_equals_set(),
        // In `-ofile` the rest of the word is the value.
        None => flag.starts_with("--") || flag.len() == 2,
    }
}

/// The first flag of a command and its subcommands for which `is_meant` is true.
fn find<'c>(command: &'c Command, is_meant: &impl Fn(&Arg) -> bool) -> Option<&'c Arg> {
    let own = command.get_arguments().find(|argument| is_meant(argument));
    own.or_else(|| command.get_subcommands().find_map(|below| find(below, is_meant)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &str, want: &str) {
        let program = crate::arguments::program(crate::invoked_as::InvokedAs::Rustomize);
        let words = arguments.split_whitespace().map(OsString::from).collect();
        let found: Vec<String> = first(words, &program).iter().map(|w| w.to_string_lossy().into_owned()).collect();
        assert_eq!(found.join(" "), want, "{arguments}");
    }

    #[test]
    fn parents_are_the_commands_that_have_commands() {
        fn collect(command: &Command, path: &str, found: &mut Vec<String>) {
            if command.get_name() == "help" || !command.has_subcommands() {
                return;
            }
            found.push(path.to_owned());
            for below in command.get_subcommands() {
                collect(below, format!("{path} {}", below.get_name()).trim(), found);
            }
        }
        let mut program = crate::arguments::program(crate::invoked_as::InvokedAs::Rustomize);
        program.build();
        let mut found = Vec::new();
        collect(&program, "", &mut found);
        let mut parents = PARENTS.map(str::to_owned).to_vec();
        found.sort();
        parents.sort();
        assert_eq!(found, parents);
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
        check("edit --stack-trace set image a:1", "edit set image --stack-trace a:1");
        check("--stack-trace edit set image a:1", "edit set image --stack-trace a:1");
        check("edit --force=true add label a:b", "edit add label --force=true a:b");
        check(
            "edit set --namespace n configmap c --from-literal a=b",
            "edit set configmap --namespace n c --from-literal a=b",
        );
        check("edit set namesuffix -- -x", "edit set namesuffix -- -x");
        check("plugin --json list", "plugin list --json");
    }
}
