//! Flags that a command takes with a group and has no use for.

use clap::Arg;

/// Leaves flags out of the help of a command. They are still parsed: the command refuses them with
/// an error of its own, or does as if they were not there.
pub fn hidden<const N: usize>(names: [&'static str; N]) -> impl Fn(Arg) -> Arg {
    move |flag| if names.contains(&flag.get_id().as_str()) { flag.hide(true) } else { flag }
}
