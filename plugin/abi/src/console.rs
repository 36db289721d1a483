//! The console of Windows: the colours that it shows, and the events that ask a process to end.

use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, OwnedHandle};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use windows_sys::Win32::System::Console::{
    CONSOLE_MODE, CTRL_BREAK_EVENT, CTRL_C_EVENT, ENABLE_VIRTUAL_TERMINAL_PROCESSING, GetConsoleMode,
    SetConsoleCtrlHandler, SetConsoleMode,
};
use windows_sys::core::BOOL;

/// The end of a channel that gets a message for each event.
static EVENTS: OnceLock<Sender<()>> = OnceLock::new();

/// Returns the events that ask this process to end: Ctrl-C, Ctrl-Break, the end of the console, of
/// the session and of the system. From now on the process does not end by itself. After one of the
/// last three events, the system ends it within seconds.
///
/// # Errors
/// The system refuses it, or it was called before.
pub fn ends() -> io::Result<Receiver<()>> {
    let (send, receive) = channel();
    EVENTS.set(send).map_err(|_| io::Error::from(io::ErrorKind::AlreadyExists))?;
    // SAFETY: the handler is a function, which exists as long as the process.
    match unsafe { SetConsoleCtrlHandler(Some(notice), 1) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(receive),
    }
}

/// Passes on an event, in a thread that the system makes for it. Returns false if nobody waits for
/// events: the system ends the process then.
unsafe extern "system" fn notice(event: u32) -> BOOL {
    let is_noticed = EVENTS.get().is_some_and(|events| events.send(()).is_ok());
    // The system ends the process when this function returns, unless the event is a key.
    if is_noticed && !matches!(event, CTRL_C_EVENT | CTRL_BREAK_EVENT) {
        loop {
            std::thread::park();
        }
    }
    is_noticed.into()
}

/// The modes of the console for stdout and for stderr, before they were changed.
#[derive(Debug)]
pub struct Colors {
    before: Vec<(OwnedHandle, CONSOLE_MODE)>,
    stdout: bool,
    stderr: bool,
}

impl Colors {
    /// Lets stdout and stderr show colours, each of them that is a console.
    pub fn enable() -> Colors {
        let mut before = Vec::new();
        let stdout = enable(&io::stdout(), &mut before);
        let stderr = enable(&io::stderr(), &mut before);
        Colors { before, stdout, stderr }
    }

    /// Returns false if stdout is a console that shows no colours.
    pub fn stdout(&self) -> bool {
        self.stdout
    }

    /// Returns false if stderr is a console that shows no colours.
    pub fn stderr(&self) -> bool {
        self.stderr
    }

    /// Gives the console the modes that it had.
    pub fn restore(&self) {
        // Both are often one console: its first mode is the one from before.
        for (handle, mode) in self.before.iter().rev() {
            // SAFETY: the handle is open.
            unsafe { SetConsoleMode(handle.as_raw_handle(), *mode) };
        }
    }
}

/// Lets a stream show colours. Returns false for a console that shows none. If the mode of the
/// console was changed, its former mode is added to `before`.
fn enable(stream: &impl AsHandle, before: &mut Vec<(OwnedHandle, CONSOLE_MODE)>) -> bool {
    let mut mode = 0;
    // SAFETY: the stream's handle is open as long as the stream is borrowed. The call writes to
    // `mode` alone, and fails for a handle of anything but a console.
    if unsafe { GetConsoleMode(stream.as_handle().as_raw_handle(), &raw mut mode) } == 0 {
        return true;
    }
    if mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0 {
        return true;
    }
    // SAFETY: as above. The call takes no memory.
    let is_set =
        unsafe { SetConsoleMode(stream.as_handle().as_raw_handle(), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) };
    if is_set != 0
        && let Ok(handle) = stream.as_handle().try_clone_to_owned()
    {
        before.push((handle, mode));
    }
    is_set != 0
}
