//! `explain CODE`: the page of a code, as text.

use crate::diag::Code;
use anyhow::Result;
use clap::Args;
use std::fmt::Write as _;
use std::io::Write;

/// `explain`.
#[derive(Args)]
pub struct Explain {
    /// The code of an error or a warning, as in no-match
    #[arg(value_name = "CODE", required_unless_present = "list")]
    pub code: Option<String>,

    /// List all codes with their meanings
    #[arg(long)]
    pub list: bool,
}

/// Runs `explain`.
///
/// # Errors
/// There is no such code, or the page cannot be printed.
pub fn explain(args: &Explain) -> Result<()> {
    let Some(code) = &args.code else { return list() };
    if run(code)? { Ok(()) } else { Err(unknown(code).into()) }
}

/// Prints the page of a code. False if no code has this word; nothing is printed then.
///
/// # Errors
/// The page cannot be printed.
pub fn run(code: &str) -> Result<bool> {
    let Some(code) = Code::from_word(code) else { return Ok(false) };
    print(&plain(code.page()))?;
    Ok(true)
}

/// Prints all codes with their meanings.
///
/// # Errors
/// They cannot be printed.
pub fn list() -> Result<()> {
    let width = Code::all().map(|code| code.as_str().len()).max().unwrap_or_default();
    let mut text = String::new();
    for code in Code::all() {
        let _ = writeln!(text, "{:width$}  {}", code.as_str(), code.meaning());
    }
    print(&text)
}

/// The error for a word that is not a code.
pub fn unknown(word: &str) -> crate::diag::Error {
    let error = crate::diag::Error::new(Code::Usage, format!("there is no code '{word}'"));
    let error = match Code::nearest(word) {
        Some(code) => error.hint(format!("did you mean '{0}'? rustomize explain {0}", code.as_str())),
        None => error,
    };
    error.hint("list all codes: rustomize explain --list")
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
    let mut out = std::io::stdout();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
