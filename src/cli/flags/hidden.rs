//! Flags that a command takes as part of a group and does not use.

use clap::Arg;

/// Leaves flags out of the help of a command. They are still parsed: the command refuses them with
/// an error of its own, or ignores them.
pub(crate) fn hidden<const N: usize>(names: [&'static str; N]) -> impl Fn(Arg) -> Arg {
    move |flag| if names.contains(&flag.get_id().as_str()) { flag.hide(true) } else { flag }
}
