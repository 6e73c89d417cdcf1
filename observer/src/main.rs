//! The `watchtap` program.

use std::process::ExitCode;

/// musl's allocator returns large buffers to the kernel at once: with it, observed lists need half more CPU. glibc's is slow where one
/// thread frees what another one allocated, as when logs are read (`docs/benches.md`).
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    observer::cli::main(std::env::args_os())
}
