//! System calls that a plugin does not need, and files whose modes and times it would change.

use super::sandbox::{attack, build_like, gets, got};
use crate::support::run;

#[test]
fn unlisted_system_calls_are_refused() {
    // Memory and queues that the processes of a user share without a file, calls that tell about
    // unreadable files, and calls that are newer than every list.
    let act = "note(\"shm\", syscall(SYS_shmget, 7, 4096, 0600 | IPC_CREAT)); \
        note(\"sem\", syscall(SYS_semget, 7, 1, 0600 | IPC_CREAT)); \
        note(\"msg\", syscall(SYS_msgget, 7, 0600 | IPC_CREAT)); \
        note(\"mq\", syscall(SYS_mq_open, \"attack\", O_RDWR | O_CREAT, 0600, 0)); \
        note(\"inotify\", syscall(SYS_inotify_init1, 0)); \
        note(\"personality\", syscall(SYS_personality, 0x40000)); \
        note(\"robust\", syscall(SYS_get_robust_list, 0, got + 2048, got + 2056)); \
        note(\"aio\", syscall(SYS_io_setup, 1, got + 2064)); \
        note(\"new\", syscall(468, -100, \"/etc/passwd\", got + 2048, 24, 0))";
    gets(act, "");
}

/// Connects a socket of datagrams to that of somebody else, and sends.
const DATAGRAMS: &str = "int pair[2]; struct sockaddr_un at = {AF_UNIX, \"../home/s\"}; \
    for (int flags = 0; flags < 3; flags++) { \
    int kind = SOCK_DGRAM | (flags == 1 ? SOCK_CLOEXEC : flags == 2 ? SOCK_NONBLOCK : 0); \
    if (socketpair(AF_UNIX, kind, 0, pair) == 0) { note(\"pair\", 0); \
    note(\"connected\", connect(pair[0], (struct sockaddr *)&at, sizeof at)); \
    note(\"sent\", sendto(pair[1], \"x\", 1, 0, (struct sockaddr *)&at, sizeof at)); } } \
    note(\"raw\", socketpair(AF_UNIX, SOCK_RAW, 0, pair)); \
    note(\"stream\", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)); \
    note(\"again\", connect(pair[0], (struct sockaddr *)&at, sizeof at)); \
    note(\"packets\", socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair)); \
    note(\"again\", connect(pair[0], (struct sockaddr *)&at, sizeof at))";

#[test]
fn datagram_sockets_reach_no_other_program() {
    let Some(tree) = attack(DATAGRAMS) else { return };
    let socket = std::os::unix::net::UnixDatagram::bind(tree.home().join("s")).unwrap();
    socket.set_nonblocking(true).unwrap();
    for level in ["auto", "strict"] {
        let isolation = format!("--plugin-isolation={level}");
        for args in [&[isolation.as_str()][..], &[&isolation, "--plugin-allow-net"]] {
            assert_eq!(got(tree.build(args)), "stream packets", "{args:?}");
        }
    }
    assert!(socket.recv(&mut [0; 8]).is_err(), "something has arrived");
}

#[test]
fn plugin_cannot_change_priority_of_other_processes() {
    // As an ordinary user, whose processes a call for a user or a group reaches.
    let act = "int own = getpgrp(); note(\"user\", setpriority(PRIO_USER, 0, 19)); \
        note(\"id\", setpriority(PRIO_USER, getuid(), 19)); note(\"group\", setpriority(PRIO_PGRP, 0, 19)); \
        note(\"named\", setpriority(PRIO_PGRP, own, 19)); \
        note(\"io-user\", syscall(SYS_ioprio_set, 3, 0, 3 << 13)); note(\"io-group\", syscall(SYS_ioprio_set, 2, 0, 3 << 13)); \
        note(\"own\", setpriority(PRIO_PROCESS, 0, 19)); note(\"io\", syscall(SYS_ioprio_set, 1, 0, 3 << 13))";
    gets(act, "own io");
    let Some(tree) = attack(act) else { return };
    let Some(mut command) = super::secrets::as_ordinary_user(&tree, &[]) else { return };
    command.args(["build", "--enable-alpha-plugins", "--plugin-isolation=strict", "."]);
    assert_eq!(got(run(&mut command)), "own io");
}

#[test]
fn plugin_cannot_lease_or_flag_files() {
    let act = "int f = open(\"kustomization.yaml\", O_RDONLY); long flags = 0; \
        note(\"lease\", fcntl(f, F_SETLEASE, F_RDLCK)); ioctl(f, FS_IOC_GETFLAGS, &flags); \
        flags ^= FS_NODUMP_FL; note(\"flags\", ioctl(f, FS_IOC_SETFLAGS, &flags)); \
        note(\"lock\", fcntl(f, F_GETFD))";
    gets(act, "lock");
}

#[test]
fn system_calls_of_other_abis_are_refused() {
    if !cfg!(target_arch = "x86_64") {
        return println!("nothing to test: only x86-64 has other interfaces");
    }
    // getpid as 32-bit programs call it, in a child that dies; and as x32 programs do.
    let act = "int pid = fork(), status = 0; if (pid == 0) { long r = 20; \
        __asm__ volatile(\"int $0x80\" : \"+a\"(r)); _exit(r > 0 ? 0 : 1); } \
        waitpid(pid, &status, 0); note(\"i386\", status == 0 ? 0 : -1); note(\"x32\", syscall(0x40000000 + 39))";
    gets(act, "");
}

/// Tries to change files of the user, the plugin's own program and what is open, and then a file
/// that the plugin has made.
const MODES: &str = "int f = open(\"g.yaml\", O_RDONLY); char own[4096]; struct timeval t[2] = {{1, 0}, {1, 0}}; \
    note(\"chmod\", chmod(\"g.yaml\", 0644)); note(\"fchmod\", fchmod(f, 0644)); \
    note(\"fchmodat\", fchmodat(AT_FDCWD, \"g.yaml\", 0644, 0)); \
    note(\"fchmodat2\", syscall(452, AT_FDCWD, \"g.yaml\", 0644, 0)); \
    note(\"chown\", chown(\"g.yaml\", geteuid(), getegid())); note(\"fchown\", fchown(f, geteuid(), getegid())); \
    note(\"utimes\", utimes(\"g.yaml\", t)); note(\"futimens\", futimens(f, 0)); \
    note(\"xattr\", setxattr(\"g.yaml\", \"user.a\", \"b\", 1, 0)); note(\"fxattr\", fsetxattr(f, \"user.a\", \"b\", 1, 0)); \
    long flags = 0; ioctl(f, FS_IOC_GETFLAGS, &flags); flags ^= FS_NODUMP_FL; \
    note(\"flags\", ioctl(f, FS_IOC_SETFLAGS, &flags)); \
    note(\"home\", chmod(\"../home/key\", 0644)); note(\"null\", fchmod(0, 0666)); note(\"exe\", chmod(\"/proc/self/exe\", 0755)); \
    for (int i = 3; i < 64; i++) if (i != f) note(\"inherited\", fchmod(i, 0755)); \
    sprintf(own, \"%s/own\", getenv(\"TMPDIR\")); close(open(own, O_CREAT | O_WRONLY, 0600)); \
    note(\"own\", chmod(own, 0640)); note(\"own-times\", utimes(own, t))";

#[test]
fn plugin_cannot_change_metadata_of_user_files() {
    let Some(tree) = attack(MODES) else { return };
    tree.write("../home/key", "hunter2");
    for level in ["auto", "strict"] {
        let run = tree.build(&[&format!("--plugin-isolation={level}")]);
        assert_eq!(got(run), "own own-times", "{level}");
    }
}

#[test]
fn plugin_without_mount_namespace_cannot_change_modes() {
    let Some(tree) = attack(MODES) else { return };
    tree.write("../home/key", "hunter2");
    let build = tree.command(&["build", "--enable-alpha-plugins", "--plugin-isolation=strict", "."]);
    let mut shell = build_like(&build, "unshare");
    let program = build.get_program().to_string_lossy().into_owned();
    let line = format!(
        "echo 0 > /proc/sys/user/max_mnt_namespaces && exec '{program}' build --enable-alpha-plugins --plugin-isolation=strict ."
    );
    shell.args(["--user", "--map-root-user", "sh", "-c", &line]);
    let run = run(&mut shell);
    if run.status != Some(0) && !run.stderr.contains("rror: ") {
        return crate::support::skip(&run.stderr);
    }
    assert_eq!(got(run), "");
}
