//! Generates a ConfigMap of the configuration's message.

use std::process::ExitCode;

/// What this plugin says of itself.
const DESCRIPTION: &str = concat!(
    r#"{"version": ""#,
    env!("CARGO_PKG_VERSION"),
    r#"", "api_version": "x1.0", "generators": [{"apiVersion": "example.com/v1", "kind": "KIND"}]}"#
);

fn field<'c>(name: &str, config: &'c str) -> Result<&'c str, String> {
    let value = |line: &'c str| line.trim_start().strip_prefix(name)?.strip_prefix(": ");
    config.lines().find_map(value).ok_or_else(|| format!("the configuration has no '{name}'"))
}

fn run() -> Result<String, String> {
    let file = std::env::args().nth(1).ok_or("which configuration?")?;
    if file == "describe" {
        return Ok(DESCRIPTION.to_owned());
    }
    let config = std::fs::read_to_string(&file).map_err(|e| format!("cannot read '{file}': {e}"))?;
    let (name, message) = (field("name", &config)?, field("message", &config)?);
    Ok(format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  message: {message}"))
}

fn main() -> ExitCode {
    match run() {
        Ok(printed) => {
            println!("{printed}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
