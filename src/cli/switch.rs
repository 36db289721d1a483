//! Values of flags that are on or off.

/// Reads the words that Go's `strconv.ParseBool` reads, as kustomize's flags do.
///
/// # Errors
/// Another word.
pub fn switch(word: &str) -> Result<bool, String> {
    match word {
        "1" | "t" | "T" | "true" | "True" | "TRUE" => Ok(true),
        "0" | "f" | "F" | "false" | "False" | "FALSE" => Ok(false),
        _ => Err("expected true or false".to_owned()),
    }
}
