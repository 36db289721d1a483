//! The headings of flags in the help of builds.

pub const OUTPUT: &str = "Output";
pub const ROOTS: &str = "Several kustomizations";
pub const FILES: &str = "Files";
pub const PLUGINS: &str = "Plugins";
pub const FUNCTIONS: &str = "KRM functions";
pub const HELM: &str = "Helm";
pub const REMOTE: &str = "Remote files";
pub const WORK: &str = "Work of the build";
pub const MESSAGES: &str = "Messages";
