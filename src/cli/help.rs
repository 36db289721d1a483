//! The help of the program: its commands in groups.

use clap::Command;
use std::fmt::Write as _;

/// The groups, in their order. A command that no group names is in the last one.
const GROUPS: &[(&str, &[&str])] = &[
    ("Build", &["build", "validate"]),
    ("Change kustomizations", &["create", "edit", "localize", "vendor", "hook"]),
    ("Plugins", &["plugin"]),
    ("Look", &["explain", "diff", "tree", "lsp", "cfg", "fn", "openapi", "cache", "doctor", "version"]),
    ("Other", &["completion", "help"]),
];

/// The program, with its commands in groups.
pub fn grouped(program: Command) -> Command {
    let mut template = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    let width = program.get_subcommands().map(|c| c.get_name().len()).max().unwrap_or_default();
    for (i, (heading, names)) in GROUPS.iter().enumerate() {
        let is_last = i + 1 == GROUPS.len();
        let is_named = |c: &&Command| GROUPS.iter().any(|(_, names)| names.contains(&c.get_name()));
        let of_group = names.iter().filter_map(|name| program.find_subcommand(name));
        let without = program.get_subcommands().filter(|c| is_last && !is_named(c) && !c.is_hide_set());
        let mut lines = String::new();
        for command in of_group.chain(without) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(lines, "  {:width$}  {about}", command.get_name());
        }
        if !lines.is_empty() {
            let _ = write!(template, "\n{heading}:\n{lines}");
        }
    }
    template.push_str("\nOptions:\n{options}{after-help}");
    program.help_template(template)
}
