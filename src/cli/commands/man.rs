//! `man`: a man page for each command, made of the definitions of the flags.

use anyhow::{Context, Result};
use clap::{Args, Command};
use std::fs;
use std::path::{Path, PathBuf};

/// `man`.
#[derive(Args)]
pub(crate) struct Man {
    /// The directory to write the pages to; it is made if it does not exist
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Writes the pages of a program and of all its commands: `rustomize.1`, `rustomize-build.1`, and
/// so on. Hidden commands are left out.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn run(args: &Man, mut program: Command) -> Result<()> {
    let directory = &args.directory;
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    program.build();
    pages(&program, directory)
}

fn pages(command: &Command, directory: &Path) -> Result<()> {
    for below in command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        pages(below, directory)?;
    }
    // A page describes the flags that the short help leaves out, too.
    let command = command.clone().mut_args(|argument| argument.hide_short_help(false));
    let page = clap_mangen::Man::new(command).source("rustomize").manual("rustomize manual");
    let path = directory.join(page.get_filename());
    let mut text = Vec::new();
    page.render(&mut text)?;
    // Pages lack a date, so two builds write the same bytes. An empty date needs quotes.
    let text = String::from_utf8(text)?.replacen(" 1  ", " 1 \"\" ", 1);
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}
