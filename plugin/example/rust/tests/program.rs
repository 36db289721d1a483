//! The plugin as a program, started as a build starts it.

use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn the_program_labels_what_it_reads() {
    let config = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("team.yaml");
    std::fs::write(&config, "apiVersion: example.com/v1\nkind: TeamLabel\nmetadata: {name: x}\nteam: blue\n").unwrap();
    #[expect(clippy::disallowed_methods, reason = "the plugin itself")]
    let mut plugin = Command::new(env!("CARGO_BIN_EXE_team-label"))
        .arg(config)
        .env("KUSTOMIZE_PLUGIN_MODE", "transform")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pod = b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n";
    plugin.stdin.take().unwrap().write_all(pod).unwrap();
    let output = plugin.wait_with_output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && printed.contains("    example.com/team: blue\n"), "{printed}");
}
