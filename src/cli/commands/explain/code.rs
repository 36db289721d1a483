//! `explain CODE`: the page of a code, as text.

use crate::writer::{self, Shown};
use anyhow::Result;
use rustomize_engine::diag::Code;
use std::fmt::Write as _;

/// Prints the page of a code. Returns false, and prints nothing, if no code has this word.
///
/// # Errors
/// The page cannot be printed.
pub(crate) fn run(code: &str) -> Result<bool> {
    let Some(code) = Code::from_word(code) else { return Ok(false) };
    print(&plain(code.page()))?;
    Ok(true)
}

/// Prints all codes with their meanings.
///
/// # Errors
/// stdout is closed.
pub(crate) fn list() -> Result<()> {
    let width = Code::all().map(|code| code.as_str().len()).max().unwrap_or_default();
    let mut text = String::new();
    for code in Code::all() {
        let _ = writeln!(text, "{:width$}  {}", code.as_str(), code.meaning());
    }
    print(&text)
}

/// A hint for a directory that does not exist and whose name is similar to a code.
pub(crate) fn hint(word: &str) -> Option<String> {
    let code = Code::nearest(word)?.as_str();
    Some(format!("did you mean the code '{code}'? rustomize explain {code}"))
}

/// A page without its marks of Markdown: blocks are indented.
fn plain(page: &str) -> String {
    let (mut text, mut is_block) = (String::new(), false);
    for line in page.lines() {
        match line {
            "```txtar" => is_block = true,
            "```" => is_block = false,
            _ if is_block => drop(writeln!(text, "    {line}")),
            _ => drop(writeln!(text, "{}", line.trim_start_matches(['#', ' ']))),
        }
    }
    text
}

fn print(text: &str) -> Result<()> {
    Ok(writer::print(&Shown::values(text))?)
}
