//! The signals that end this process, and its children with it.

use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;

/// The exit status after one of [`SIGNALS`].
const INTERRUPTED: u8 = 130;

/// The exit status after an abort, which is that of an error.
const FAILED: i32 = 1;

/// Signals that ask a process to end.
const SIGNALS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// Makes an abort end this process with the exit status of an error. The standard library aborts
/// when memory runs out or a stack overflows, after it has printed the reason.
pub(super) fn exit_at_abort() {
    let always = Arc::new(AtomicBool::new(true));
    // Without this the status is that of SIGABRT.
    let _ = signal_hook::flag::register_conditional_shutdown(SIGABRT, FAILED, always);
}

/// Lets a thread call `clean_up` and end this process when a signal asks for it. Without this
/// thread, a signal ends the process as the system does.
///
/// # Errors
/// The system refuses a thread, or to watch signals.
pub(super) fn end_with_signals(clean_up: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let (send, receive) = channel();
    let wait = move || {
        let signals = Signals::new(SIGNALS);
        let _ = send.send(signals.as_ref().map(drop).map_err(std::io::Error::kind));
        if signals.is_ok_and(|mut signals| signals.forever().next().is_some()) {
            crate::status_line::end();
            clean_up();
            std::process::exit(INTERRUPTED.into());
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
    // From here on nothing is made that a signal would leave behind.
    receive.recv().unwrap_or(Ok(())).map_err(Into::into)
}
