//! `completion`: the script of a shell, and the words that the script asks for.
//!
//! The script runs the tool with [`VARIABLE`] set to the name of the shell. The tool then prints
//! the words that fit at the cursor. Words come from the definitions of the flags, and from the
//! completers of values that only this machine knows, such as directories, plugins and kinds.

use crate::invoked_as::InvokedAs;
use crate::writer;
use anyhow::{Result, bail};
use clap::{Args, Command, ValueEnum};
use clap_complete::env::Shells;
use rustomize_base::shown::is_unseen;
use std::ffi::{OsStr, OsString};

/// The variable by which a script asks for words. Its value is the name of the shell.
pub(crate) const VARIABLE: &str = "RUSTOMIZE_COMPLETE";

/// `completion`.
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Completion {
    /// The shell: bash, zsh, fish or powershell
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    pub shell: Shell,
}

/// The shells that complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

impl Shell {
    /// The name of the shell for the maker of scripts.
    fn name(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Zsh => "zsh",
            Shell::Fish => "fish",
            Shell::Powershell => "powershell",
        }
    }
}

const ABOUT: &str = "Print a script for bash, zsh, fish or powershell that completes commands, flags, and values: directories with \
    a kustomization, kinds, installed plugins. Called as kustomize, the script is for kustomize.";

const EXAMPLES: &str = "Examples:
  # bash and zsh, for this shell; in ~/.bashrc or ~/.zshrc for all
  source <(rustomize completion bash)
  source <(rustomize completion zsh)

  # fish
  rustomize completion fish > ~/.config/fish/completions/rustomize.fish

  # PowerShell, in the profile
  rustomize completion powershell | Out-String | Invoke-Expression";

/// Prints the script of a shell for the tool under the name by which it was called.
///
/// # Errors
/// stdout is closed.
pub(crate) fn run(args: &Completion, invoked_as: InvokedAs) -> Result<()> {
    let name = if invoked_as == InvokedAs::Kustomize { "kustomize" } else { "rustomize" };
    let shells = Shells::builtins();
    let name_of_shell = args.shell.name();
    let Some(shell) = shells.completer(name_of_shell) else { bail!("'{name_of_shell}' is not a known shell") };
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, name, name, name, &mut script)?;
    Ok(writer::data([script])?)
}

/// Prints the words that fit at the cursor. The arguments are those of the process: the line of the
/// shell is after `--`.
///
/// # Errors
/// The shell is unknown, or stdout is closed.
pub(crate) fn answer(shell: &OsStr, arguments: Vec<OsString>, mut program: Command) -> Result<()> {
    let shells = Shells::builtins();
    let shell = shell.to_string_lossy();
    let Some(shell) = shells.completer(&shell) else { bail!("{VARIABLE} names an unknown shell, '{shell}'") };
    let line: Vec<OsString> = arguments.into_iter().skip_while(|word| word != "--").skip(1).collect();
    if line.is_empty() {
        bail!("{VARIABLE} is set, and there is no line to complete behind '--'");
    }
    program.build();
    if !line.last().is_some_and(|word| word.as_encoded_bytes().starts_with(b"-")) {
        program = with_hidden_flags(program);
    }
    let here = std::env::current_dir().ok();
    let mut offers = Vec::new();
    let name = shell.name().to_owned();
    shell.write_complete(&mut program, line, here.as_deref(), &mut offers)?;
    Ok(writer::data([harmless(&String::from_utf8_lossy(&offers), &name)])?)
}

/// The offers that a shell can take: names of files are offers, too. bash and PowerShell put an
/// offer into the line as it is, where `$(command).yaml` would be a command. They get words that
/// mean nothing but themselves. zsh and fish put quotes around an offer. No shell gets characters
/// that cannot be seen.
fn harmless(offers: &str, shell: &str) -> String {
    // The script for bash asks for this character between offers.
    let between = if shell == "bash" { '\u{b}' } else { '\n' };
    let is_kept = |offer: &&str| {
        let word = offer.split('\t').next().unwrap_or_default();
        match shell {
            "bash" | "powershell" => is_plain(word, shell),
            _ => !word.contains(is_unseen),
        }
    };
    let kept: Vec<&str> = offers.split(between).filter(is_kept).collect();
    kept.join(&between.to_string())
}

/// True for a word whose characters mean nothing to a shell. `~/` in front stands for the home.
fn is_plain(word: &str, shell: &str) -> bool {
    let separator = if shell == "powershell" { '\\' } else { '/' };
    let word = word.strip_prefix("~/").unwrap_or(word);
    word.chars().all(|c| c.is_alphanumeric() || c == separator || "/._-+:@%=,^".contains(c))
}

/// The program with hidden flags. They are completed only if nothing else fits: at a word that does
/// not begin with a dash.
fn with_hidden_flags(program: Command) -> Command {
    let hide = |argument: clap::Arg| if argument.is_positional() { argument } else { argument.hide(true) };
    program.mut_args(hide).mut_subcommands(with_hidden_flags)
}
