//! `plugin`: makes, installs and lists plugins.

pub(crate) mod add;
pub(crate) mod adopt;
pub(crate) mod build;
pub(crate) mod built;
pub(crate) mod describe;
pub(crate) mod export;
pub(crate) mod header;
pub(crate) mod images;
pub(crate) mod install;
pub(crate) mod list;
pub(crate) mod lock;
pub(crate) mod named;
pub(crate) mod new;
pub(crate) mod package;
pub(crate) mod prune;
pub(crate) mod remove;
pub(crate) mod run;
pub(crate) mod sync;
pub(crate) mod trust;
pub(crate) mod update;
pub(crate) mod verify;
pub(crate) mod why;

use crate::flags::format::{Format, Printing};
use crate::messages::with_own_files;
use crate::{cache, host};
use anyhow::Result;
use clap::{Args, Subcommand};
use rustomize_engine::diag::Error;
use rustomize_manager::policy::machine::MachineError;
use rustomize_plugins::PluginOptions;

/// `plugin`.
#[derive(Args)]
pub(crate) struct PluginCommand {
    #[command(subcommand)]
    pub command: Plugin,

    /// The same as `-o json`
    #[arg(long, global = true, hide = true)]
    pub json: bool,
}

/// The commands of `plugin`: those of every day first, those of authors last.
#[derive(Subcommand)]
pub(crate) enum Plugin {
    Add(add::Add),
    Install(install::Install),
    #[command(alias = "upgrade")]
    Update(update::Update),
    #[command(alias = "ls")]
    List(list::List),
    #[command(alias = "uninstall", alias = "rm")]
    Remove(remove::Remove),
    Lock(lock::LockFlags),
    #[command(alias = "doctor", alias = "explain")]
    Why(why::Why),
    Verify(verify::Verify),
    Trust(trust::Trust),
    Prune(prune::Prune),
    Sync(sync::Sync),
    Export(export::Export),
    New(new::New),
    Run(Box<run::Run>),
    Describe(describe::Describe),
    Package(package::Package),
    Header(header::Header),
    Build(build::Build),
    Adopt(adopt::Adopt),
}

/// Runs `plugin`.
///
/// # Errors
/// The subcommand fails.
pub(crate) fn run(args: &PluginCommand) -> Result<()> {
    dispatch(args).map_err(for_the_user)
}

/// An error with the line of its file, whose path begins in the working directory.
fn for_the_user(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<Error>() {
        Ok(fault) => with_own_files(fault).into(),
        Err(error) => match error.downcast::<MachineError>() {
            Ok(MachineError::Fault(fault)) => with_own_files(fault).into(),
            Ok(lack) => lack.into(),
            Err(error) => error,
        },
    }
}

fn dispatch(args: &PluginCommand) -> Result<()> {
    let is_json = args.json;
    let json = |printing: Printing| is_json || printing.output == Format::Json;
    let options = PluginOptions {
        host: host::host(),
        go_hosts: cache::go_hosts(),
        shows_stderr: true,
        children: host::children().clone(),
        ..PluginOptions::default()
    };
    match &args.command {
        Plugin::Add(args) => add::run(args, json(args.printing), &options),
        Plugin::Install(args) => install::run(args, json(args.printing), &options),
        Plugin::Update(args) => update::run(args, json(args.printing), &options),
        Plugin::List(args) => list::run(args, json(args.printing), &options),
        Plugin::Remove(args) => remove::run(args, json(args.printing)),
        Plugin::Lock(args) => lock::run(args, json(args.printing), &options),
        Plugin::Why(args) => why::run(args, json(args.printing), &options),
        Plugin::Verify(args) => verify::run(args, json(args.printing), &options),
        Plugin::Trust(args) => trust::run(args, is_json),
        Plugin::Prune(args) => prune::run(args, json(args.printing)),
        Plugin::Sync(args) => sync::run(args, json(args.printing), &options),
        Plugin::Export(args) => export::run(args, json(args.printing), &options),
        Plugin::New(args) => new::run(args, is_json),
        Plugin::Run(args) => run::run(args),
        Plugin::Describe(args) => describe::run(args, &options),
        Plugin::Package(args) => package::run(args, is_json, &options),
        Plugin::Header(args) => header::run(args),
        Plugin::Build(args) => build::run(args, is_json, &options),
        Plugin::Adopt(args) => adopt::run(args, is_json, &options),
    }
}
