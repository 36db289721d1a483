//! The signals of a console that end this process, and its children with it: Ctrl-C, Ctrl-Break,
//! the end of the console, of the session and of the system.

use rustomize_plugin_abi::console;

/// The exit status after one of them.
const INTERRUPTED: u8 = 130;

/// Does nothing: an abort here has the status of the system, and calls nothing of this process.
pub(super) fn exit_at_abort() {}

/// Lets a thread call `clean_up` and end this process when a signal asks for it. Without this
/// thread, a signal ends the process as the system does.
///
/// # Errors
/// The system refuses a thread, or to watch signals.
pub(super) fn end_with_signals(clean_up: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let ends = console::ends()?;
    let wait = move || {
        if ends.recv().is_ok() {
            crate::status_line::end();
            clean_up();
            crate::colors::restore();
            std::process::exit(INTERRUPTED.into());
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
    Ok(())
}
