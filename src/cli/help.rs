//! The help of the program and of `plugin`: their commands in groups.

use clap::Command;
use std::fmt::Write as _;

/// Groups of commands, in their order. A command that no group names is in the last one.
type Groups = &'static [(&'static str, &'static [&'static str])];

/// The groups of the program.
const PROGRAM: Groups = &[
    ("Build", &["build", "lint", "validate", "diff", "explain", "tree", "affected", "watch"]),
    ("Change kustomizations", &["edit", "images", "promote", "create", "vendor", "localize", "hook"]),
    ("Plugins", &["plugin"]),
    ("Look after this machine", &["doctor", "cache", "install-to"]),
    ("For other programs", &["lsp", "mcp", "krm-function", "cfg", "fn", "openapi"]),
    ("Other", &["version", "completion", "help"]),
];

/// The groups of `plugin`.
const PLUGIN: Groups = &[
    ("Use plugins", &["add", "install", "update", "list", "remove"]),
    ("Decide which plugins run", &["lock", "why", "verify", "trust", "prune"]),
    ("Share plugins with other machines", &["sync", "export"]),
    ("Write plugins", &["new", "run", "describe", "package", "header", "build", "adopt", "help"]),
];

/// The program, with its commands in groups.
pub(super) fn grouped_program(program: Command) -> Command {
    in_groups(program, PROGRAM)
}

/// A command of the program, with its own commands in groups if it has many.
pub(super) fn grouped(command: Command) -> Command {
    if command.get_name() == "plugin" { in_groups(command, PLUGIN) } else { command }
}

/// A command with the template of a help that lists its commands in groups.
fn in_groups(program: Command, groups: Groups) -> Command {
    let mut template = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    let width = program.get_subcommands().map(|c| c.get_name().len()).max().unwrap_or_default();
    for (i, (heading, names)) in groups.iter().enumerate() {
        let is_last = i + 1 == groups.len();
        let is_named = |c: &&Command| groups.iter().any(|(_, names)| names.contains(&c.get_name()));
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
