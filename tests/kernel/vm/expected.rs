//! The expectations of each kernel. To change them, change its entry here.

use observer_tests::VmKernel;

/// The expectations of a kernel.
#[derive(Debug)]
pub(super) struct Expected {
    /// Whether `watchtap probe` runs. The tests of this binary run only then.
    pub(super) can_probe: bool,
    /// The requirements of `watchtap probe --check` that were tried and are not met, with their states.
    pub(super) lacks: &'static [(&'static str, &'static str)],
}

/// `uprobe_multi` links came with 6.6. The verifiers before the newest kernel refuse the object of the programs: that of 6.12 allows nested
/// functions a stack of 512 bytes, and they need 544.
pub(super) const fn of(kernel: VmKernel) -> Expected {
    const NOT_LOADED: (&str, &str) = ("eBPF programs are loaded", "Missing");
    match kernel {
        VmKernel::V5_10 | VmKernel::V6_1 => Expected { can_probe: false, lacks: &[("Linux 6.6 or later", "Missing"), NOT_LOADED] },
        VmKernel::V6_12 => Expected { can_probe: false, lacks: &[NOT_LOADED] },
        VmKernel::Newest => Expected { can_probe: true, lacks: &[] },
    }
}
