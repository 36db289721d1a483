//! Flags that are on or off.

use clap::Arg;

/// Makes a flag a switch: `--flag`, `--flag=true` or `--flag=false`.
pub(crate) trait Switch {
    /// The flag with a value that may be left out.
    fn switch(self) -> Self;
}

impl Switch for Arg {
    fn switch(self) -> Arg {
        let optional = self.num_args(0..=1).require_equals(true).default_missing_value("true");
        optional.value_name("BOOL").value_parser(parse)
    }
}

/// Returns true if a switch was given and is not off.
pub(crate) fn is_on(flag: Option<bool>) -> bool {
    flag.unwrap_or(false)
}

/// Reads the words that Go's `strconv.ParseBool` reads, as kustomize's flags do.
fn parse(word: &str) -> Result<bool, String> {
    match word {
        "1" | "t" | "T" | "true" | "True" | "TRUE" => Ok(true),
        "0" | "f" | "F" | "false" | "False" | "FALSE" => Ok(false),
        _ => Err("expected true or false".to_owned()),
    }
}
