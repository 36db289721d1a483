//! The flags that hold resources to the schemas of their kinds.

use clap::Args;

/// The flags that hold resources to the schemas of their kinds.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SchemaFlags {
    /// Hold the resources to the schemas of their kinds
    ///
    /// Kubernetes' own kinds, and those that CustomResourceDefinitions in the output define; other
    /// kinds are left alone. A finding is an error, except for a version of an API that is
    /// deprecated. Nothing is fetched.
    #[arg(long)]
    schema: bool,

    /// The version of Kubernetes whose kinds count, as in 1.31; implies --schema [default: the
    /// newest]
    #[arg(long, value_name = "VERSION", hide_short_help = true)]
    kubernetes_version: Option<String>,
}

impl SchemaFlags {
    /// Returns true if a flag asks for schemas.
    pub(crate) fn are_asked(&self) -> bool {
        self.schema || self.kubernetes_version.is_some()
    }

    /// The version of Kubernetes; `None` for the newest.
    pub(crate) fn kubernetes_version(&self) -> Option<&str> {
        self.kubernetes_version.as_deref()
    }
}
