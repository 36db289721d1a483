//! The command: parse arguments, run, turn an error into text and an exit status; nothing else.

/// The system's allocator returns memory page by page and takes locks; a build makes and drops
/// millions of small lists. Measured in docs/performance.md.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    // Files that the caller left open, except the three streams, are not passed on to children.
    close_fds::set_fds_cloexec(3, &[]);
    rustomize::cli::main()
}
