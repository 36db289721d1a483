//! `hook`: a git hook that builds the kustomizations that a commit or a push changes.
//!
//! The hook builds the files that git has, not those of the working tree: the index of a commit, or
//! the commits of a push, written to a private directory.

use crate::commands::validate::{self, Validate};
use crate::flags::build::BuildFlags;
use crate::flags::roots::RootFlags;
use crate::git::{self, git, paths_of, top};
use crate::machine::in_path;
use crate::messages::Messages;
use crate::request::deprecated;
use crate::{host, writer};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use rustomize_base::observe::Observer;
use rustomize_base::shell::quoted_bytes;
use rustomize_files::Place;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// `hook`.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct HookCommand {
    #[command(subcommand)]
    pub command: Hook,
}

/// The commands of `hook`.
#[derive(Subcommand)]
pub(crate) enum Hook {
    /// Install the hook in the repository of the working directory
    Install(HookInstall),
    /// Remove the hook that 'hook install' has installed
    Uninstall(HookUninstall),
    /// Build the staged or pushed files; the hook calls this
    Run(HookRun),
}

/// `hook install`.
#[derive(Args)]
pub(crate) struct HookInstall {
    /// Build before a push instead of before a commit
    #[arg(long)]
    pub pre_push: bool,

    /// Replace a hook that was not installed by this command
    #[arg(long)]
    pub force: bool,

    /// Flags of 'validate' for the builds, behind '--'
    #[arg(last = true, value_name = "FLAGS")]
    pub flags: Vec<String>,
}

impl HookInstall {
    /// The hook to install.
    pub(crate) fn name(&self) -> HookName {
        HookName::of(self.pre_push)
    }
}

/// `hook uninstall`.
#[derive(Args)]
pub(crate) struct HookUninstall {
    /// Remove the hook for pushes
    #[arg(long)]
    pub pre_push: bool,
}

impl HookUninstall {
    /// The hook to remove.
    pub(crate) fn name(&self) -> HookName {
        HookName::of(self.pre_push)
    }
}

/// `hook run`.
#[derive(Args)]
pub(crate) struct HookRun {
    /// The hook that calls
    pub hook: HookName,

    /// The arguments that git gives the hook
    #[arg(hide = true)]
    pub given: Vec<String>,

    /// Flags of 'validate' for the builds, behind '--'
    #[arg(last = true, value_name = "FLAGS")]
    pub flags: Vec<String>,
}

/// The hooks of git that run builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookName {
    PreCommit,
    PrePush,
}

impl HookName {
    fn of(pre_push: bool) -> Self {
        if pre_push { HookName::PrePush } else { HookName::PreCommit }
    }

    /// The flag of 'hook install' for this hook, after a blank.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            HookName::PreCommit => "",
            HookName::PrePush => " --pre-push",
        }
    }
}

impl std::fmt::Display for HookName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            HookName::PreCommit => "pre-commit",
            HookName::PrePush => "pre-push",
        })
    }
}

const EXAMPLES: &str = "Examples:
  # Refuse commits that break a kustomization, in this repository
  rustomize hook install

  # The same for pushes, with helm
  rustomize hook install --pre-push -- --enable-helm

Only kustomizations that the changed files can affect are built, from what is staged or pushed.
'git commit --no-verify' commits all the same.";

/// Reads the flags of `validate` that a user has given to a hook.
type Parse = fn(&[String]) -> Result<Validate, clap::Error>;

/// The flags for the builds of a hook, as words, and the reader of such words.
#[derive(Clone, Copy)]
struct BuildWords<'w> {
    words: &'w [String],
    parse: Parse,
}

/// The line that marks a hook of this program.
const MARK: &str = "# Installed by 'rustomize hook install'; 'rustomize hook uninstall' removes it.";

/// Runs `hook`.
///
/// # Errors
/// The working directory is not in a git repository; another hook exists; the committed or pushed
/// files do not build.
pub(crate) fn run(command: &HookCommand, parse: Parse, messages: &mut Messages) -> Result<()> {
    match &command.command {
        Hook::Install(install) => {
            parse(&install.flags)?;
            self::install(install.name(), &install.flags, install.force)
        }
        Hook::Uninstall(uninstall) => self::uninstall(uninstall.name()),
        Hook::Run(run) => match run.hook {
            HookName::PreCommit => before_commit(BuildWords { words: &run.flags, parse }, messages),
            HookName::PrePush => before_push(BuildWords { words: &run.flags, parse }, messages),
        },
    }
}

fn install(hook: HookName, flags: &[String], force: bool) -> Result<()> {
    let path = place(hook)?;
    if !force && path.symlink_metadata().is_ok() && !is_own(&path) {
        bail!(
            "'{}' was not installed by rustomize, and is kept\n  hint: add the line 'rustomize hook run {hook} \
             \"$@\"' to it, or replace it: rustomize hook install{} --force",
            path.display(),
            hook.flag()
        );
    }
    let program = match in_path("rustomize") {
        Some(_) => OsString::from("rustomize"),
        None => std::env::current_exe()?.into_os_string(),
    };
    let mut text = format!("#!/bin/sh\n{MARK}\nexec ").into_bytes();
    text.extend(quoted_bytes(program.as_encoded_bytes()));
    text.extend(format!(" hook run {hook}").into_bytes());
    for (i, flag) in flags.iter().enumerate() {
        text.extend_from_slice(if i == 0 { b" -- " } else { b" " });
        text.extend(quoted_bytes(flag.as_bytes()));
    }
    text.push(b'\n');
    let write = || {
        // A link in place of the hook is replaced, and not followed.
        let place = Place::made(&path)?;
        let mut staged = place.stage()?;
        staged.write_all(&text)?;
        place.put(staged, 0o755)
    };
    write().with_context(|| format!("'{}'", path.display()))?;
    writer::say(&format!("installed {}", path.display()));
    Ok(())
}

fn uninstall(hook: HookName) -> Result<()> {
    let path = place(hook)?;
    if path.symlink_metadata().is_err() {
        writer::say(&format!("no hook to remove: {}", path.display()));
        return Ok(());
    }
    if !is_own(&path) {
        bail!("'{}' was not installed by rustomize, and is kept", path.display());
    }
    std::fs::remove_file(&path).with_context(|| format!("'{}'", path.display()))?;
    writer::say(&format!("removed {}", path.display()));
    Ok(())
}

/// Returns true for a hook that [`install`] has written.
fn is_own(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|text| text.split(|&b| b == b'\n').nth(1) == Some(MARK.as_bytes()))
}

/// The file of a hook in the repository of the working directory.
fn place(hook: HookName) -> Result<PathBuf> {
    Ok(git::hooks()?.join(hook.to_string()))
}

/// Builds the files that a commit would contain.
fn before_commit(flags: BuildWords<'_>, messages: &mut Messages) -> Result<()> {
    let top = top()?;
    let changed = git::differing(&top, &["--cached"])?;
    check(flags, &top, changed, None, messages).context("the staged files do not build, and are not committed")
}

/// Builds the commits that git names on stdin, as it does for a push.
fn before_push(flags: BuildWords<'_>, messages: &mut Messages) -> Result<()> {
    let top = top()?;
    let mut pushed = String::new();
    std::io::stdin().read_to_string(&mut pushed).context("cannot read the list of pushed commits on stdin")?;
    for line in pushed.lines() {
        let [_, local, name, remote] = line.split(' ').collect::<Vec<_>>()[..] else {
            bail!("'{line}' on stdin is not a line of git's for this hook");
        };
        let is_zero = |id: &str| id.bytes().all(|b| b == b'0');
        if is_zero(local) {
            continue;
        }
        let is_known =
            !is_zero(remote) && git(&top, &["cat-file", "-e", &format!("{remote}^{{commit}}")], None).is_ok();
        // If the remote does not have the branch, all its files are new.
        let changed = match is_known {
            true => git::differing(&top, &[remote, local])?,
            false => paths_of(&git(&top, &["ls-tree", "-r", "--name-only", "-z", local], None)?).collect(),
        };
        let shown = || format!("the commits for {name} do not build, and are not pushed");
        check(flags, &top, changed, Some(local), messages).with_context(shown)?;
    }
    Ok(())
}

/// Builds the roots that files affect, out of a commit, or of the index.
fn check(
    flags: BuildWords<'_>,
    top: &Path,
    changed: Vec<PathBuf>,
    commit: Option<&str>,
    messages: &mut Messages,
) -> Result<()> {
    if changed.is_empty() {
        return Ok(());
    }
    let flags = (flags.parse)(flags.words)?;
    let directory = host::children().directory("rustomize-hook-").context("no directory for the files of git")?;
    let tree = git::export(top, directory.path(), "tree", commit)?;
    deprecated(&flags.build).into_iter().for_each(writer::say);
    let roots = RootFlags { all: true, affected_by: Some(changed), keep_going: true, ..flags.build.roots };
    let build = BuildFlags { roots, ..flags.build };
    git::within(&tree, || validate::run(Validate { build, ..flags }, Observer::default(), messages))
}
