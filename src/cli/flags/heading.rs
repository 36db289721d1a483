//! The headings of flags in the help of builds.

pub(crate) const OUTPUT: &str = "Output";
pub(crate) const ROOTS: &str = "Several kustomizations";
pub(crate) const FILES: &str = "Files";
pub(crate) const PLUGINS: &str = "Plugins";
pub(crate) const FUNCTIONS: &str = "KRM functions";
pub(crate) const HELM: &str = "Helm";
pub(crate) const REMOTE: &str = "Remote files";
pub(crate) const WORK: &str = "Work of the build";
pub(crate) const MESSAGES: &str = "Messages";
