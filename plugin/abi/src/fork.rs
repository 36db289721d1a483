//! A process that splits in two and waits for signals, as a keeper of another process does.

use crate::process::check_only_thread;
use rustix::process::{Pid, Signal};
use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

/// Splits this process in two. The old process gets the id of the new one, and the new process gets
/// `None`. Both continue after the call.
///
/// # Errors
/// This process has a second thread, which the new process would lack while its locks stayed
/// locked; or the system refuses another process.
pub fn fork() -> io::Result<Option<Pid>> {
    check_only_thread()?;
    // SAFETY: this process has one thread, and no thread runs that could start another one. So the
    // new process has all threads of the old one, and no lock of another thread.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// Signals that are blocked: they do nothing until this process asks for them.
pub struct Blocked {
    signals: libc::sigset_t,
    before: libc::sigset_t,
}

impl Blocked {
    /// Blocks signals for this thread, which must be the only one.
    ///
    /// # Errors
    /// The system refuses to block the signals.
    pub fn new(signals: &[Signal]) -> io::Result<Blocked> {
        let mut set = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        // SAFETY: `sigemptyset` initializes the set before the other calls get it. They write only
        // to the sets that they are given.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in signals {
                libc::sigaddset(set.as_mut_ptr(), signal.as_raw());
            }
            match libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), before.as_mut_ptr()) {
                0 => Ok(Blocked { signals: set.assume_init(), before: before.assume_init() }),
                errno => Err(io::Error::from_raw_os_error(errno)),
            }
        }
    }

    /// Waits for one of the signals, and takes it. `None` if no signal has come in time.
    pub fn wait(&self, time: Duration) -> Option<i32> {
        let time = libc::timespec {
            tv_sec: time.as_secs().try_into().unwrap_or(libc::time_t::MAX),
            tv_nsec: time.subsec_nanos().into(),
        };
        // SAFETY: both structs are initialized, and null says that no details of the signal are
        // wanted.
        let signal = unsafe { libc::sigtimedwait(&self.signals, std::ptr::null_mut(), &time) };
        (signal > 0).then_some(signal)
    }

    /// Gives the signals the effect that they had before.
    pub fn unblock(&self) {
        // SAFETY: the set is initialized, and null says that the old set is not wanted.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
    }
}

/// Ends this process by a signal, with the signal's default effect. Returns if that effect does not
/// end processes.
pub fn end_by(signal: i32) {
    // SAFETY: the handler is the system's default, and the set is initialized before it is used.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        let mut set = MaybeUninit::uninit();
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), std::ptr::null_mut());
        libc::raise(signal);
    }
}
