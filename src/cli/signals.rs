//! The children of this process, and the signals that end them with it.

use crate::cli::plugin_host;
use rustomize_process::Children;
use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::sync::{Arc, LazyLock};

/// Exit status after one of [`SIGNALS`].
const INTERRUPTED: u8 = 130;

/// Exit status after an abort: that of an error.
const FAILED: i32 = 1;

/// Signals that ask a process to end.
const SIGNALS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// Lets an abort end this process with the exit status of an error. The standard library aborts
/// when memory runs out or a stack overflows, after it has printed which of the two it was.
pub fn exit_at_abort() {
    let always = Arc::new(AtomicBool::new(true));
    // Without this the status is that of SIGABRT.
    let _ = signal_hook::flag::register_conditional_shutdown(SIGABRT, FAILED, always);
}

/// All children of this process. Before the first one is started, a thread begins to wait for
/// signals: without plugins and their configurations a signal has nothing to clean up.
pub fn children() -> &'static Children {
    static ALL: LazyLock<Children> = LazyLock::new(|| {
        let prepare = || {
            if let Err(e) = end_with_signals() {
                crate::cli::writer::say(&format!("Warning: Ctrl-C will not clean up: {e}"));
            }
        };
        Children::of_process(prepare, plugin_host::program)
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
            crate::cli::status_line::end();
            children().end();
            std::process::exit(INTERRUPTED.into());
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
    // From here on nothing is made that a signal would leave behind.
    receive.recv().unwrap_or(Ok(())).map_err(Into::into)
}
