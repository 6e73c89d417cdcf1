//! The compiled programs.

/// The ELF object with all programs and maps, as built by `cargo xtask ebpf build` (`watchtap.bpf.toml` lists the tools). Its
/// address is a multiple of eight, as its sections require.
pub static OBJECT: &[u8] = &ALIGNED.bytes;

const BYTES: &[u8; LENGTH] = include_bytes!("../watchtap.bpf.o");
const LENGTH: usize = include_bytes!("../watchtap.bpf.o").len();

#[repr(C, align(8))]
struct Aligned {
    bytes: [u8; LENGTH],
}

static ALIGNED: Aligned = Aligned { bytes: *BYTES };
