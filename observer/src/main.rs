//! The `watchtap` program.

use std::process::ExitCode;

/// musl's allocator returns large buffers to the kernel at once: with it, observed lists need half more CPU. glibc's stays, because reading
/// some captures takes less memory with it (`docs/benches.md`).
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    observer::cli::main(std::env::args_os())
}
