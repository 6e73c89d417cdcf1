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

/// A guest has all rights, so the fallbacks of older kernels lack nothing.
pub(super) const fn of(kernel: VmKernel) -> Expected {
    match kernel {
        VmKernel::V5_10 | VmKernel::V6_1 | VmKernel::V6_12 | VmKernel::Newest | VmKernel::Arm64V6_12 => {
            Expected { can_probe: true, lacks: &[] }
        }
    }
}
