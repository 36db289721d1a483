//! Flags of `hook`, as typed.

use clap::{Args, Subcommand, ValueEnum};

/// `hook`.
#[derive(Args)]
pub struct HookCommand {
    #[command(subcommand)]
    pub command: Hook,
}

/// The commands of `hook`.
#[derive(Subcommand)]
pub enum Hook {
    /// Install the hook in the repository of the working directory
    Install(HookInstall),
    /// Remove the hook that 'hook install' has installed
    Uninstall(HookUninstall),
    /// Build the staged or pushed files; the hook calls this
    Run(HookRun),
}

/// `hook install`.
#[derive(Args)]
pub struct HookInstall {
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
    pub fn name(&self) -> HookName {
        HookName::of(self.pre_push)
    }
}

/// `hook uninstall`.
#[derive(Args)]
pub struct HookUninstall {
    /// Remove the hook for pushes
    #[arg(long)]
    pub pre_push: bool,
}

impl HookUninstall {
    /// The hook to remove.
    pub fn name(&self) -> HookName {
        HookName::of(self.pre_push)
    }
}

/// `hook run`.
#[derive(Args)]
pub struct HookRun {
    /// The hook that calls
    pub hook: HookName,

    /// The arguments that git gives the hook
    #[arg(hide = true)]
    pub given: Vec<String>,

    /// Flags of 'validate' for the builds, behind '--'
    #[arg(last = true, value_name = "FLAGS")]
    pub flags: Vec<String>,
}

/// The hooks of git in which builds run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HookName {
    PreCommit,
    PrePush,
}

impl HookName {
    fn of(pre_push: bool) -> Self {
        if pre_push { HookName::PrePush } else { HookName::PreCommit }
    }

    /// The flag of 'hook install' for this hook, behind a blank.
    pub fn flag(self) -> &'static str {
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
