//! `hook`: a git hook that builds the kustomizations that a commit or a push changes.
//!
//! The hook builds what git has, not the working tree: the index of a commit, or the commits of a
//! push, written to a private directory.

use super::args::{self, Build, Validate};
use super::git::{self, git, paths_of, top};
use super::hook_args::{Hook, HookCommand, HookName};
use super::messages::Messages;
use super::{build, signals, writer};
use crate::files::Place;
use crate::shell::quoted_bytes;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The line by which a hook is known.
const MARK: &str = "# Installed by 'rustomize hook install'; 'rustomize hook uninstall' removes it.";

/// Runs `hook`.
///
/// # Errors
/// This is not a git repository; another hook is in the place; what is committed or pushed does not
/// build.
pub fn run(command: &HookCommand, messages: &mut Messages) -> Result<()> {
    match &command.command {
        Hook::Install(install) => {
            args::validate(&install.flags)?;
            self::install(install.name(), &install.flags, install.force)
        }
        Hook::Uninstall(uninstall) => self::uninstall(uninstall.name()),
        Hook::Run(run) => match run.hook {
            HookName::PreCommit => before_commit(&run.flags, messages),
            HookName::PrePush => before_push(&run.flags, messages),
        },
    }
}

fn install(hook: HookName, flags: &[String], force: bool) -> Result<()> {
    let path = place(hook)?;
    if !force && path.symlink_metadata().is_ok() && !is_own(&path) {
        bail!(
            "'{}' is a hook that rustomize has not installed, and stays\n  hint: add the line 'rustomize hook run {hook} \
             \"$@\"' to it, or replace it: rustomize hook install{} --force",
            path.display(),
            hook.flag()
        );
    }
    let program = match build::in_path("rustomize") {
        Some(_) => OsString::from("rustomize"),
        None => std::env::current_exe()?.into_os_string(),
    };
    let mut text = format!("#!/bin/sh\n{MARK}\nexec ").into_bytes();
    text.extend(quoted_bytes(program.as_bytes()));
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
        bail!("'{}' is a hook that rustomize has not installed, and stays", path.display());
    }
    std::fs::remove_file(&path).with_context(|| format!("'{}'", path.display()))?;
    writer::say(&format!("removed {}", path.display()));
    Ok(())
}

/// True for a hook that [`install`] has written.
fn is_own(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|text| text.split(|&b| b == b'\n').nth(1) == Some(MARK.as_bytes()))
}

/// The file of a hook in the repository of the working directory.
fn place(hook: HookName) -> Result<PathBuf> {
    Ok(git::hooks()?.join(hook.to_string()))
}

/// Builds what a commit would hold.
fn before_commit(flags: &[String], messages: &mut Messages) -> Result<()> {
    let top = top()?;
    let changed = git(
        &top,
        &["diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty"],
        None,
    )?;
    check(flags, &top, &changed, None, messages).context("what is staged does not build, and is not committed")
}

/// Builds the commits that git names on stdin, as it does for a push.
fn before_push(flags: &[String], messages: &mut Messages) -> Result<()> {
    let top = top()?;
    let mut pushed = String::new();
    std::io::stdin().read_to_string(&mut pushed).context("cannot read what is pushed on stdin")?;
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
        // Of a branch that the remote does not have, all files are new.
        let changed = match is_known {
            true => git(
                &top,
                &[
                    "diff",
                    "--name-only",
                    "-z",
                    "--no-renames",
                    "--no-ext-diff",
                    "--ignore-submodules=dirty",
                    remote,
                    local,
                ],
                None,
            )?,
            false => git(&top, &["ls-tree", "-r", "--name-only", "-z", local], None)?,
        };
        let shown = || format!("what is pushed to {name} does not build, and is not pushed");
        check(flags, &top, &changed, Some(local), messages).with_context(shown)?;
    }
    Ok(())
}

/// Builds the roots that files affect, out of a commit, or of the index.
fn check(flags: &[String], top: &Path, changed: &[u8], commit: Option<&str>, messages: &mut Messages) -> Result<()> {
    let changed: Vec<PathBuf> = paths_of(changed).collect();
    if changed.is_empty() {
        return Ok(());
    }
    let flags = args::validate(flags)?;
    let directory = signals::children().directory("rustomize-hook-").context("no directory for the files of git")?;
    let tree = git::export(top, directory.path(), "tree", commit)?;
    let build = Build { all: true, affected_by: Some(changed), keep_going: true, ..flags.build };
    git::within(&tree, || build::validate(Validate { build, ..flags }, messages))
}
