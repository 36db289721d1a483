//! Jobs of Windows: processes that end together, within limits together.

use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_ACTIVE_PROCESS, JOB_OBJECT_LIMIT_JOB_MEMORY,
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
    SetInformationJobObject,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// A job that this process is in, with all processes that it starts from now on, and those that
/// they start. When this value is dropped, or this process ends in whatever way, all of them end.
#[derive(Debug)]
pub struct Job {
    _handle: OwnedHandle,
}

/// The limits of all processes of a job together.
#[derive(Clone, Copy, Debug, Default)]
pub struct JobLimits {
    /// Bytes of memory; `None` for no limit. An allocation beyond it fails.
    pub memory: Option<u64>,
    /// Processes at a time, with this one; `None` for no limit. No further one starts.
    pub processes: Option<u32>,
}

impl Job {
    /// Makes a job and puts this process into it. A process may be in several jobs, each of which
    /// is part of the one before.
    ///
    /// # Errors
    /// The system refuses a job, or the limits, or to put this process into it.
    pub fn of_this_process(limits: JobLimits) -> io::Result<Job> {
        // SAFETY: null says that the job has no name, and that its handle is not inherited. The
        // handle is owned by nobody else.
        let handle = unsafe {
            let handle = CreateJobObjectW(std::ptr::null(), std::ptr::null());
            if handle.is_null() {
                return Err(io::Error::last_os_error());
            }
            OwnedHandle::from_raw_handle(handle)
        };
        let mut info = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        let flags = &mut info.BasicLimitInformation.LimitFlags;
        *flags |= JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        if let Some(bytes) = limits.memory {
            *flags |= JOB_OBJECT_LIMIT_JOB_MEMORY;
            info.JobMemoryLimit = usize::try_from(bytes).unwrap_or(usize::MAX);
        }
        if let Some(processes) = limits.processes {
            info.BasicLimitInformation.LimitFlags |= JOB_OBJECT_LIMIT_ACTIVE_PROCESS;
            info.BasicLimitInformation.ActiveProcessLimit = processes;
        }
        // SAFETY: the handle is that of a job, and the struct is the one that the class asks for,
        // with its size.
        let is_set = unsafe {
            SetInformationJobObject(
                handle.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const info).cast(),
                size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>() as u32,
            )
        };
        if is_set == 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: both are valid handles; that of this process is a constant.
        match unsafe { AssignProcessToJobObject(handle.as_raw_handle(), GetCurrentProcess()) } {
            0 => Err(io::Error::last_os_error()),
            _ => Ok(Job { _handle: handle }),
        }
    }

    /// Keeps the job as long as this process lives.
    pub fn for_life(self) {
        std::mem::forget(self);
    }
}
