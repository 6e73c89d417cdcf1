//! The compiled programs.

/// The ELF object with all programs and maps for this machine's architecture, as built by `cargo xtask ebpf build`. The file
/// `*.bpf.toml` beside it lists the tools. Its address is a multiple of eight, as its sections require.
pub static OBJECT: &[u8] = &ALIGNED.bytes;

#[cfg(target_arch = "aarch64")]
macro_rules! object {
    () => {
        include_bytes!("../watchtap.arm64.bpf.o")
    };
}

/// Also on architectures that have none. There, the probe reports that it cannot run.
#[cfg(not(target_arch = "aarch64"))]
macro_rules! object {
    () => {
        include_bytes!("../watchtap.bpf.o")
    };
}

const LENGTH: usize = object!().len();

#[repr(C, align(8))]
struct Aligned {
    bytes: [u8; LENGTH],
}

static ALIGNED: Aligned = Aligned { bytes: *object!() };
