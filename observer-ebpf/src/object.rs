//! The programs as they are built.

/// The ELF object with all programs and maps, as `cargo xtask ebpf build` made it (`watchtap.bpf.toml` says of what). It begins at an address
/// that is a multiple of eight, as its sections want it.
pub static OBJECT: &[u8] = &ALIGNED.bytes;

const BYTES: &[u8; LENGTH] = include_bytes!("../watchtap.bpf.o");
const LENGTH: usize = include_bytes!("../watchtap.bpf.o").len();

#[repr(C, align(8))]
struct Aligned {
    bytes: [u8; LENGTH],
}

static ALIGNED: Aligned = Aligned { bytes: *BYTES };
