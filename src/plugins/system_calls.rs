//! The system calls that a confined process may make, by subject. Every other call is refused.
//!
//! A call that names a file or another process is on the list if Landlock or the mounts of the
//! process hold what it may reach. Architectures other than that of this program are answered with
//! the end of the process, and x32 programs' calls are not on the list.

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};
use std::collections::BTreeMap;
use std::error::Error;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Permissions that decide which calls a process may make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallPermissions {
    /// True if it may have sockets of IP.
    pub network: bool,
    /// True if it may have UNIX sockets, beside pairs.
    pub sockets: bool,
    /// True if modes, owners, attributes and times of files may be changed, where the files can be
    /// written.
    pub modes: bool,
}

/// Refuses this process, and all that it starts, every call that is not on the list.
///
/// # Errors
/// The system does not have filters, or not for this architecture.
pub(crate) fn restrict(choice: CallPermissions) -> Result<()> {
    let architecture: seccompiler::TargetArch = std::env::consts::ARCH.try_into()?;
    let install = |rules, otherwise, then| -> Result<()> {
        let filter: BpfProgram = SeccompFilter::new(rules, otherwise, then, architecture)?.try_into()?;
        Ok(apply_filter(&filter)?)
    };
    let errno = |errno: i32| SeccompAction::Errno(errno.unsigned_abs());
    install(allowed(choice)?, errno(libc::EPERM), SeccompAction::Allow)?;
    // Of two filters that refuse, the later one gives the error.
    let unknown = UNKNOWN.chain([libc::SYS_clone3]).map(|call| (call, Vec::new())).collect();
    install(unknown, SeccompAction::Allow, errno(libc::ENOSYS))
}

/// Calls that libraries try first, and have another way for where a system does not know them.
/// The arguments of clone3 are in memory, where a filter cannot look; the others are newer than
/// this list.
const UNKNOWN: std::ops::RangeInclusive<c_long> = 463..=511;

/// Each call that is allowed, with the rules of which one must hold; without a rule, always.
fn allowed(choice: CallPermissions) -> Result<BTreeMap<c_long, Vec<SeccompRule>>> {
    let modes = if choice.modes { MODES } else { &[] };
    let groups = ALWAYS.iter().chain(OF_ARCHITECTURE).chain(modes);
    let mut calls: BTreeMap<c_long, Vec<SeccompRule>> =
        groups.flat_map(|(_, calls)| calls.iter().map(|&call| (call, Vec::new()))).collect();
    for (call, arguments) in OF_ITSELF {
        let conditions = arguments.iter().map(|&(nth, value)| argument(nth, Op::Eq, value));
        calls.insert(*call, vec![all(conditions.collect::<Result<_>>()?)?]);
    }
    let of_none = |nth, values: &[u64]| {
        let conditions = values.iter().map(|&value| argument(nth, Op::Ne, value));
        all(conditions.collect::<Result<_>>()?)
    };
    calls.insert(libc::SYS_ioctl, vec![of_none(1, &REQUESTS)?]);
    calls.insert(libc::SYS_fcntl, vec![of_none(1, &[libc::F_SETLEASE as u64, libc::F_NOTIFY as u64])?]);
    let no_namespace = SeccompCondition::new(0, Len::Qword, Op::MaskedEq(NAMESPACES as u64), 0)?;
    calls.insert(libc::SYS_clone, vec![all(vec![no_namespace])?]);
    calls.insert(libc::SYS_personality, vec![all(vec![argument(0, Op::Eq, 0xffff_ffff)?])?]);
    let pairs = PAIRS.iter().map(|&kind| {
        let kind = SeccompCondition::new(1, Len::Dword, Op::MaskedEq(TYPE_OF_SOCKET), kind as u64)?;
        all(vec![argument(0, Op::Eq, libc::AF_UNIX as u64)?, kind])
    });
    calls.insert(libc::SYS_socketpair, pairs.collect::<Result<_>>()?);
    let ip: &[i32] = if choice.network { &IP } else { &[] };
    let unix: &[i32] = if choice.sockets { &[libc::AF_UNIX] } else { &[] };
    // A call without any rule would be allowed.
    if choice.network || choice.sockets {
        let families = ip.iter().chain(unix).map(|&family| all(vec![argument(0, Op::Eq, family as u64)?]));
        calls.insert(libc::SYS_socket, families.collect::<Result<_>>()?);
    }
    Ok(calls)
}

fn all(conditions: Vec<SeccompCondition>) -> Result<SeccompRule> {
    Ok(SeccompRule::new(conditions)?)
}

fn argument(nth: u8, op: Op, value: u64) -> Result<SeccompCondition> {
    Ok(SeccompCondition::new(nth, Len::Dword, op, value)?)
}

/// The families of sockets that the network needs: addresses are looked up through the last one.
const IP: [i32; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The types of sockets whose pairs are allowed. The socket of such a pair is connected for ever; a
/// socket of datagrams could be connected again, to any socket of the user.
const PAIRS: [i32; 2] = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET];

/// The bits of a type without the flags of the socket.
const TYPE_OF_SOCKET: u64 = 0xf;

/// IOPRIO_WHO_PROCESS
const IOPRIO_PROCESS: u64 = 1;

/// Calls that can concern other processes, and the arguments with which they concern the caller
/// alone: its number is 0. The first argument of two of them chooses between a process, a group and
/// a user.
const OF_ITSELF: &[(c_long, &[(u8, u64)])] = &[
    (libc::SYS_prlimit64, &[(0, 0)]),
    (libc::SYS_setpriority, &[(0, libc::PRIO_PROCESS as u64), (1, 0)]),
    (libc::SYS_sched_setaffinity, &[(0, 0)]),
    (libc::SYS_sched_setattr, &[(0, 0)]),
    (libc::SYS_sched_setparam, &[(0, 0)]),
    (libc::SYS_sched_setscheduler, &[(0, 0)]),
    (libc::SYS_ioprio_set, &[(0, IOPRIO_PROCESS), (1, 0)]),
];

/// Requests to devices and files that are refused: to type into a terminal or to take it, and to
/// change the flags, version, keys or seal of a file that was opened for reading.
const REQUESTS: [u64; 11] = [
    request(libc::TIOCSTI),
    request(libc::TIOCSCTTY),
    request(libc::TIOCSPGRP),
    // TIOCLINUX: pastes into a console.
    0x541c,
    // FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_SETVERSION, FS_IOC32_SETVERSION
    0x4008_6602,
    0x4004_6602,
    0x4008_7602,
    0x4004_7602,
    // FS_IOC_FSSETXATTR, FS_IOC_SET_ENCRYPTION_POLICY, FS_IOC_ENABLE_VERITY
    0x401c_5820,
    0x800c_6613,
    0x4080_6685,
];

/// The number of a request, which has 32 bits. Its type is that of the C library.
const fn request(number: libc::Ioctl) -> u64 {
    number as u32 as u64
}

/// Namespaces of every kind: in a new one, what is restricted here would be lifted.
const NAMESPACES: i32 = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// A subject, and its calls.
type Group = (&'static str, &'static [c_long]);

/// Calls that change a file without writing to it. Landlock does not control them.
#[cfg(target_arch = "x86_64")]
const MODES: &[Group] = &[
    MODES_EVERYWHERE,
    (
        "modes, owners and times by path",
        &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat],
    ),
];
#[cfg(not(target_arch = "x86_64"))]
const MODES: &[Group] = &[MODES_EVERYWHERE];

const MODES_EVERYWHERE: Group = (
    "modes, owners, times and attributes",
    &[
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        // fchmodat2
        452,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_utimensat,
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
        libc::SYS_removexattr,
        libc::SYS_lremovexattr,
        libc::SYS_fremovexattr,
    ],
);

/// The calls of every architecture.
const ALWAYS: &[Group] = &[
    (
        "reading and writing what is open",
        &[
            libc::SYS_read,
            libc::SYS_write,
            libc::SYS_readv,
            libc::SYS_writev,
            libc::SYS_pread64,
            libc::SYS_pwrite64,
            libc::SYS_preadv,
            libc::SYS_pwritev,
            libc::SYS_preadv2,
            libc::SYS_pwritev2,
            libc::SYS_lseek,
            libc::SYS_sendfile,
            libc::SYS_copy_file_range,
            libc::SYS_splice,
            libc::SYS_tee,
            libc::SYS_vmsplice,
            libc::SYS_ftruncate,
            libc::SYS_fallocate,
            libc::SYS_fadvise64,
            libc::SYS_readahead,
            libc::SYS_fsync,
            libc::SYS_fdatasync,
            libc::SYS_sync_file_range,
            libc::SYS_flock,
            libc::SYS_close,
            libc::SYS_close_range,
            libc::SYS_dup,
            libc::SYS_dup3,
            libc::SYS_pipe2,
        ],
    ),
    (
        "files by path: Landlock's",
        &[
            libc::SYS_openat,
            libc::SYS_openat2,
            libc::SYS_truncate,
            libc::SYS_mkdirat,
            libc::SYS_mknodat,
            libc::SYS_linkat,
            libc::SYS_symlinkat,
            libc::SYS_unlinkat,
            libc::SYS_renameat,
            libc::SYS_renameat2,
            libc::SYS_umask,
        ],
    ),
    (
        "looking at files",
        &[
            libc::SYS_fstat,
            libc::SYS_newfstatat,
            libc::SYS_statx,
            libc::SYS_statfs,
            libc::SYS_fstatfs,
            libc::SYS_faccessat,
            libc::SYS_faccessat2,
            libc::SYS_readlinkat,
            libc::SYS_getdents64,
            libc::SYS_getxattr,
            libc::SYS_lgetxattr,
            libc::SYS_fgetxattr,
            libc::SYS_listxattr,
            libc::SYS_llistxattr,
            libc::SYS_flistxattr,
            libc::SYS_getcwd,
            libc::SYS_chdir,
            libc::SYS_fchdir,
        ],
    ),
    (
        "waiting",
        &[
            libc::SYS_ppoll,
            libc::SYS_pselect6,
            libc::SYS_epoll_create1,
            libc::SYS_epoll_ctl,
            libc::SYS_epoll_pwait,
            libc::SYS_epoll_pwait2,
            libc::SYS_eventfd2,
            libc::SYS_signalfd4,
            libc::SYS_timerfd_create,
            libc::SYS_timerfd_settime,
            libc::SYS_timerfd_gettime,
        ],
    ),
    (
        "sockets that exist: what makes one has rules",
        &[
            libc::SYS_connect,
            libc::SYS_bind,
            libc::SYS_listen,
            libc::SYS_accept,
            libc::SYS_accept4,
            libc::SYS_sendto,
            libc::SYS_sendmsg,
            libc::SYS_sendmmsg,
            libc::SYS_recvfrom,
            libc::SYS_recvmsg,
            libc::SYS_recvmmsg,
            libc::SYS_shutdown,
            libc::SYS_getsockname,
            libc::SYS_getpeername,
            libc::SYS_getsockopt,
            libc::SYS_setsockopt,
        ],
    ),
    (
        "memory",
        &[
            libc::SYS_brk,
            libc::SYS_mmap,
            libc::SYS_munmap,
            libc::SYS_mremap,
            libc::SYS_mprotect,
            libc::SYS_madvise,
            libc::SYS_mincore,
            libc::SYS_msync,
            libc::SYS_mlock,
            libc::SYS_mlock2,
            libc::SYS_munlock,
            libc::SYS_mlockall,
            libc::SYS_munlockall,
            libc::SYS_mbind,
            libc::SYS_get_mempolicy,
            libc::SYS_set_mempolicy,
            libc::SYS_pkey_alloc,
            libc::SYS_pkey_free,
            libc::SYS_pkey_mprotect,
            libc::SYS_memfd_create,
            libc::SYS_membarrier,
            libc::SYS_mseal,
        ],
    ),
    (
        "processes and threads",
        &[
            libc::SYS_execve,
            libc::SYS_execveat,
            libc::SYS_exit,
            libc::SYS_exit_group,
            libc::SYS_wait4,
            libc::SYS_waitid,
            libc::SYS_pidfd_open,
            libc::SYS_set_tid_address,
            libc::SYS_set_robust_list,
            libc::SYS_rseq,
            libc::SYS_futex,
            libc::SYS_futex_waitv,
            libc::SYS_prctl,
            libc::SYS_seccomp,
            libc::SYS_landlock_create_ruleset,
            libc::SYS_landlock_add_rule,
            libc::SYS_landlock_restrict_self,
            libc::SYS_getrlimit,
            libc::SYS_setrlimit,
            libc::SYS_getrusage,
            libc::SYS_times,
            libc::SYS_getpriority,
            libc::SYS_ioprio_get,
            libc::SYS_sched_yield,
            libc::SYS_sched_getaffinity,
            libc::SYS_sched_getattr,
            libc::SYS_sched_getparam,
            libc::SYS_sched_getscheduler,
            libc::SYS_sched_get_priority_max,
            libc::SYS_sched_get_priority_min,
            libc::SYS_sched_rr_get_interval,
            libc::SYS_getcpu,
        ],
    ),
    (
        "identities: a process without capabilities gains none",
        &[
            libc::SYS_getpid,
            libc::SYS_getppid,
            libc::SYS_gettid,
            libc::SYS_getpgid,
            libc::SYS_getsid,
            libc::SYS_getuid,
            libc::SYS_geteuid,
            libc::SYS_getgid,
            libc::SYS_getegid,
            libc::SYS_getresuid,
            libc::SYS_getresgid,
            libc::SYS_getgroups,
            libc::SYS_setuid,
            libc::SYS_setgid,
            libc::SYS_setreuid,
            libc::SYS_setregid,
            libc::SYS_setresuid,
            libc::SYS_setresgid,
            libc::SYS_setfsuid,
            libc::SYS_setfsgid,
            libc::SYS_setgroups,
            libc::SYS_capget,
            libc::SYS_capset,
        ],
    ),
    (
        "signals: those to others are Landlock's",
        &[
            libc::SYS_kill,
            libc::SYS_tkill,
            libc::SYS_tgkill,
            libc::SYS_pidfd_send_signal,
            libc::SYS_rt_sigaction,
            libc::SYS_rt_sigprocmask,
            libc::SYS_rt_sigpending,
            libc::SYS_rt_sigqueueinfo,
            libc::SYS_rt_tgsigqueueinfo,
            libc::SYS_rt_sigreturn,
            libc::SYS_rt_sigsuspend,
            libc::SYS_rt_sigtimedwait,
            libc::SYS_sigaltstack,
            libc::SYS_restart_syscall,
        ],
    ),
    (
        "time",
        &[
            libc::SYS_nanosleep,
            libc::SYS_clock_nanosleep,
            libc::SYS_clock_gettime,
            libc::SYS_clock_getres,
            libc::SYS_gettimeofday,
            libc::SYS_getitimer,
            libc::SYS_setitimer,
            libc::SYS_timer_create,
            libc::SYS_timer_delete,
            libc::SYS_timer_gettime,
            libc::SYS_timer_getoverrun,
            libc::SYS_timer_settime,
        ],
    ),
    ("the machine", &[libc::SYS_uname, libc::SYS_sysinfo, libc::SYS_getrandom]),
];

/// Older forms of the calls above.
#[cfg(target_arch = "x86_64")]
const OF_ARCHITECTURE: &[Group] = &[
    (
        "files",
        &[
            libc::SYS_open,
            libc::SYS_creat,
            libc::SYS_mkdir,
            libc::SYS_rmdir,
            libc::SYS_mknod,
            libc::SYS_link,
            libc::SYS_symlink,
            libc::SYS_unlink,
            libc::SYS_rename,
            libc::SYS_stat,
            libc::SYS_lstat,
            libc::SYS_access,
            libc::SYS_readlink,
            libc::SYS_getdents,
            libc::SYS_dup2,
            libc::SYS_pipe,
        ],
    ),
    (
        "waiting",
        &[
            libc::SYS_poll,
            libc::SYS_select,
            libc::SYS_epoll_create,
            libc::SYS_epoll_wait,
            libc::SYS_eventfd,
            libc::SYS_signalfd,
            libc::SYS_pause,
            libc::SYS_alarm,
            libc::SYS_time,
        ],
    ),
    (
        "processes, and the shadow of their stacks",
        &[
            libc::SYS_fork,
            libc::SYS_vfork,
            libc::SYS_getpgrp,
            libc::SYS_arch_prctl,
            // map_shadow_stack
            453,
        ],
    ),
];
#[cfg(not(target_arch = "x86_64"))]
const OF_ARCHITECTURE: &[Group] = &[];

#[cfg(test)]
mod tests {
    use super::{ALWAYS, CallPermissions, MODES, OF_ARCHITECTURE, UNKNOWN, allowed};
    use std::collections::BTreeSet;

    #[test]
    fn a_call_is_in_one_group() {
        let mut seen = BTreeSet::new();
        for (subject, calls) in ALWAYS.iter().chain(OF_ARCHITECTURE).chain(MODES) {
            for call in *calls {
                assert!(seen.insert(*call) && !UNKNOWN.contains(call), "{subject}: {call}");
            }
        }
    }

    #[test]
    fn sockets_and_modes_are_chosen() {
        let has = |network, modes, call| {
            allowed(CallPermissions { network, modes, sockets: false }).unwrap().contains_key(&call)
        };
        assert!(has(true, false, libc::SYS_socket) && !has(false, true, libc::SYS_socket));
        assert!(has(false, true, libc::SYS_fchmod) && !has(true, false, libc::SYS_fchmod));
        assert!(!has(true, true, libc::SYS_mount) && !has(true, true, libc::SYS_shmget));
    }
}
