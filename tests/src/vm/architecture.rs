//! The processor architectures of virtual machines, with qemu's words for each.

/// An architecture that qemu emulates on x86-64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Architecture {
    /// That of this machine, so its programs run there.
    Amd64,
    /// 64-bit Arm. The machine has programs of Debian for it.
    Arm64,
}

impl Architecture {
    /// The name that Debian uses.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// The program that emulates it.
    pub(super) const fn emulator(self) -> &'static str {
        match self {
            Self::Amd64 => "qemu-system-x86_64",
            Self::Arm64 => "qemu-system-aarch64",
        }
    }

    /// The emulator's arguments for machine, processor and network, separated by spaces.
    pub(super) const fn machine(self) -> &'static str {
        match self {
            // With five levels of page tables, emulation is slower.
            Self::Amd64 => "-M q35 -cpu max,la57=off -nic user,model=virtio-net-pci",
            // The algorithm of the architecture for signed pointers is slow without hardware.
            Self::Arm64 => "-M virt -cpu max,pauth-impdef=on -nic user,model=virtio-net-pci",
        }
    }

    /// Parameters of the kernel.
    pub(super) const fn parameters(self) -> &'static str {
        match self {
            // A loaded machine may fail the kernel's test of its timer.
            Self::Amd64 => "console=ttyS0 no_timer_check",
            Self::Arm64 => "console=ttyAMA0",
        }
    }

    /// The packages whose programs the machine has; none if it has those of this machine. busybox starts it, and `timeout` of coreutils
    /// ends its commands.
    pub(super) const fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Amd64 => &[],
            Self::Arm64 => &["base-files", "busybox-static", "coreutils", "curl", "kubectl"],
        }
    }
}
