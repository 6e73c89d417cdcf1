//! The architectures of machines on which the programs run. Each has an object of its own, because the programs read registers.

/// A kind of processor that the probe supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Architecture {
    X86_64,
    Arm64,
}

impl Architecture {
    pub(super) const ALL: [Self; 2] = [Self::X86_64, Self::Arm64];

    /// The name in Rust's targets.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Arm64 => "aarch64",
        }
    }

    /// The file of its object.
    pub(super) const fn file(self) -> &'static str {
        match self {
            Self::X86_64 => "watchtap.bpf.o",
            Self::Arm64 => "watchtap.arm64.bpf.o",
        }
    }
}
