//! The process of a plugin, on Windows.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle, IntoRawHandle, OwnedHandle};
use windows_sys::Wdk::System::Threading::{NtQueryInformationThread, ThreadQuerySetWin32StartAddress};
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Console::{STD_INPUT_HANDLE, SetStdHandle};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, GetModuleHandleExW,
    GetModuleHandleW,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentProcessId, GetCurrentThreadId, OpenThread, THREAD_QUERY_INFORMATION, TerminateProcess,
};
use windows_sys::w;

/// The status of this process when it ends itself.
const ENDED: u32 = 1;

unsafe extern "C" {
    /// The C library makes `to` a descriptor of the file of `from`, and closes what `to` was.
    safe fn _dup2(from: c_int, to: c_int) -> c_int;
    /// The C library closes a descriptor.
    safe fn _close(descriptor: c_int) -> c_int;
}

/// Takes the pipes of stdin and stdout away from this process, and gives them. A plugin that reads
/// stdin finds nothing there, and one that prints to stdout prints to stderr.
///
/// # Errors
/// The system refuses a handle.
pub fn take_pipes() -> io::Result<(File, File)> {
    let requests = io::stdin().as_handle().try_clone_to_owned()?;
    let answers = io::stdout().as_handle().try_clone_to_owned()?;
    // The C library knows its own descriptors. Descriptors 0 and 1 have closed the handles of this
    // process, and 1 is set as the new stdout.
    if _dup2(2, 1) != 0 {
        return Err(io::Error::last_os_error());
    }
    _close(0);
    let nothing = File::open("NUL")?.into_raw_handle();
    // SAFETY: the handle is open, and nobody closes it.
    match unsafe { SetStdHandle(STD_INPUT_HANDLE, nothing) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok((requests.into(), answers.into())),
    }
}

/// Checks that this process has no other thread than this one, but for those of the system's
/// loader: their code begins in its library, `ntdll.dll`, and they wait for libraries to load.
///
/// # Errors
/// There is another thread, or the system does not say so.
pub(super) fn check_only_thread() -> io::Result<()> {
    // SAFETY: the name ends in a NUL. The library is loaded in every process.
    let loader = unsafe { GetModuleHandleW(w!("ntdll.dll")) };
    let mut others = 0;
    for thread in threads()? {
        // SAFETY: the call takes no memory.
        let is_own = thread == unsafe { GetCurrentThreadId() };
        if !is_own && module_of(start_of(thread)?) != Some(loader) {
            others += 1;
        }
    }
    match others {
        0 => Ok(()),
        n => Err(io::Error::other(format!("this needs a process with one thread; this one has {n} others"))),
    }
}

/// The numbers of this process's threads.
fn threads() -> io::Result<Vec<u32>> {
    // SAFETY: the calls write to the entry alone, which has the size that it says. The handle is
    // owned by nobody else.
    unsafe {
        let snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
        if snapshot == INVALID_HANDLE_VALUE {
            return Err(io::Error::last_os_error());
        }
        let snapshot = OwnedHandle::from_raw_handle(snapshot);
        let mut entry = THREADENTRY32 { dwSize: size_of::<THREADENTRY32>() as u32, ..THREADENTRY32::default() };
        let mut found = Vec::new();
        let mut has_more = Thread32First(snapshot.as_raw_handle(), &raw mut entry);
        while has_more != 0 {
            if entry.th32OwnerProcessID == GetCurrentProcessId() {
                found.push(entry.th32ThreadID);
            }
            has_more = Thread32Next(snapshot.as_raw_handle(), &raw mut entry);
        }
        match found.is_empty() {
            true => Err(io::Error::other("this system does not say how many threads a process has")),
            false => Ok(found),
        }
    }
}

/// The address at which the code of a thread begins.
fn start_of(thread: u32) -> io::Result<usize> {
    let mut start = 0usize;
    // SAFETY: the call writes an address of the given size to `start`. The handle is owned by
    // nobody else.
    unsafe {
        let handle: HANDLE = OpenThread(THREAD_QUERY_INFORMATION, 0, thread);
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        let handle = OwnedHandle::from_raw_handle(handle);
        let (into, size) = ((&raw mut start).cast(), size_of::<usize>() as u32);
        let class = ThreadQuerySetWin32StartAddress;
        match NtQueryInformationThread(handle.as_raw_handle(), class, into, size, std::ptr::null_mut()) {
            0 => Ok(start),
            status => Err(io::Error::other(format!("a thread does not say where it began: {status:#x}"))),
        }
    }
}

/// The library or program that has an address.
fn module_of(address: usize) -> Option<HANDLE> {
    let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    let mut module = std::ptr::null_mut();
    // SAFETY: with these flags the second argument is an address that is only compared.
    let is_found = unsafe { GetModuleHandleExW(flags, std::ptr::without_provenance(address), &raw mut module) };
    (is_found != 0).then_some(module)
}

/// Does nothing: the keeper of this process ends with its build, and the system ends the keeper's
/// job.
///
/// # Errors
/// None here.
pub(super) fn end_with(_: &File) -> io::Result<()> {
    Ok(())
}

/// Ends this process, without the code that libraries have for their end.
pub(super) fn end() -> ! {
    // SAFETY: the handle of this process is a constant.
    unsafe { TerminateProcess(GetCurrentProcess(), ENDED) };
    std::process::abort()
}
