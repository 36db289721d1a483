//! `man`: a man page for each command, made of the definitions of the flags.

use anyhow::{Context, Result};
use clap::{Args, Command};
use std::fs;
use std::path::{Path, PathBuf};

/// `man`.
#[derive(Args)]
pub struct Man {
    /// The directory to write the pages to; it is made if it does not exist
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Writes the pages of a program and of all its commands: `rustomize.1`, `rustomize-build.1`, and so
/// on. Hidden commands have no page.
///
/// # Errors
/// A file cannot be written.
pub fn run(args: &Man, mut program: Command) -> Result<()> {
    let directory = &args.directory;
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    program.build();
    pages(&program, directory)
}

fn pages(command: &Command, directory: &Path) -> Result<()> {
    for below in command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        pages(below, directory)?;
    }
    let page = clap_mangen::Man::new(command.clone()).source("rustomize").manual("rustomize");
    let path = directory.join(page.get_filename());
    let mut text = Vec::new();
    page.render(&mut text)?;
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}
