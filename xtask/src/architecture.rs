//! The processor architectures that watchtap is built for.

/// An architecture; the variants in the order of an image's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Architecture {
    Amd64,
    Arm64,
}

impl Architecture {
    pub(crate) const ALL: [Self; 2] = [Self::Amd64, Self::Arm64];

    /// The name in image documents, which is Go's `GOARCH`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// The name in Rust's targets.
    pub(crate) const fn rust_name(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64",
            Self::Arm64 => "aarch64",
        }
    }

    pub(crate) fn is_of_this_machine(self) -> bool {
        self.rust_name() == std::env::consts::ARCH
    }

    /// Rust's target. With musl, a program needs no file of the system: neither a loader nor plug-ins that resolve names.
    pub(crate) const fn target(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64-unknown-linux-musl",
            Self::Arm64 => "aarch64-unknown-linux-musl",
        }
    }

    /// The same target in the words of zig.
    pub(crate) const fn zig_target(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64-linux-musl",
            Self::Arm64 => "aarch64-linux-musl",
        }
    }

    /// `e_machine` in the header of its programs (elf(5)).
    pub(crate) const fn elf_machine(self) -> u16 {
        match self {
            Self::Amd64 => 62,
            Self::Arm64 => 183,
        }
    }
}
