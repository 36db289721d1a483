//! The children of this process, and the signals that end them with it.

use crate::process::Children;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::LazyLock;
use std::sync::mpsc::channel;

/// Exit status after one of [`SIGNALS`].
const INTERRUPTED: u8 = 130;

/// Signals that ask a process to end.
const SIGNALS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// All children of this process. Before the first one is started, a thread begins to wait for
/// signals: without plugins and their configurations a signal has nothing to clean up.
pub(super) fn children() -> &'static Children {
    static ALL: LazyLock<Children> = LazyLock::new(|| {
        Children::of_process(|| {
            if let Err(e) = end_with_signals() {
                super::writer::say(&format!("Warning: Ctrl-C will not clean up: {e}"));
            }
        })
    });
    &ALL
}

/// Lets a thread clean up and end this process when a signal asks for it. Without this thread, a
/// signal ends the process as the system does.
fn end_with_signals() -> std::io::Result<()> {
    let (send, receive) = channel();
    let wait = move || {
        let signals = Signals::new(SIGNALS);
        let _ = send.send(signals.as_ref().map(drop).map_err(std::io::Error::kind));
        if signals.is_ok_and(|mut signals| signals.forever().next().is_some()) {
            super::status_line::end();
            children().end();
            std::process::exit(INTERRUPTED.into());
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
    // From here on nothing is made that a signal would leave behind.
    receive.recv().unwrap_or(Ok(())).map_err(Into::into)
}
