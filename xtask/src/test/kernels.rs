//! The kernels that virtual machines boot: `tests/kernel/vm` has one test for each.

use std::str::FromStr;

use super::machine::Machine;

/// A kernel and its test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kernel {
    name: &'static str,
    test: &'static str,
}

/// Those of clusters.
const OLD: [Kernel; 3] = [
    Kernel { name: "5.10", test: "kernel_5_10_of_bullseye" },
    Kernel { name: "6.1", test: "kernel_6_1_of_bookworm" },
    Kernel { name: "6.12", test: "kernel_6_12_of_trixie" },
];
const NEWEST: Kernel = Kernel { name: "newest", test: "newest_kernel_of_trixie_backports" };
/// The only one whose machine needs a program of watchtap that is built for it.
const ARM64: Kernel = Kernel { name: "arm64-6.12", test: "kernel_6_12_for_arm64" };

/// A sample whose number leaves this remainder has [`ARM64`], and no other kernel. It has time for the build of the program: it has neither a
/// minor of the matrix nor the image, and CI counts no instructions.
const ARM64_DIVISOR: u64 = 8;
const ARM64_REMAINDER: u64 = 5;

/// The selected kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernels {
    chosen: Vec<Kernel>,
}

impl Default for Kernels {
    /// That of most clusters.
    fn default() -> Self {
        Self { chosen: vec![OLD[1]] }
    }
}

impl Kernels {
    /// One of the old kernels, or that for arm64. Consecutive numbers select one after the other.
    pub(super) fn of_sample(number: u64) -> Self {
        if number % ARM64_DIVISOR == ARM64_REMAINDER {
            return Self { chosen: vec![ARM64] };
        }
        let place = usize::try_from(number % OLD.len() as u64).unwrap_or_default();
        Self { chosen: vec![OLD[place]] }
    }

    pub(crate) fn all() -> Self {
        Self { chosen: known().collect() }
    }

    /// The names of all kernels.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        known().map(|kernel| kernel.name)
    }

    /// Whether every kernel is selected, so that the complete table can be written.
    pub(super) fn is_complete(&self) -> bool {
        self.left_out().next().is_none()
    }

    /// Arguments of a test binary that select the tests.
    pub(super) fn filters(&self) -> impl Iterator<Item = String> {
        self.chosen.iter().map(|kernel| kernel.test.to_owned())
    }

    /// Whether a machine for arm64 is selected.
    pub(super) fn have_arm64(&self) -> bool {
        self.chosen.contains(&ARM64)
    }

    /// The reason why one of them cannot be booted on `machine`, or `None` if all can.
    pub(super) fn impossible(&self, machine: &Machine) -> Option<String> {
        self.have_arm64().then(|| machine.lacks(&["qemu-system-aarch64"])).flatten()
    }

    /// The remark on what does not run.
    pub(super) fn sentence(&self) -> String {
        const IN_EACH: &str = "left out in each for x86-64: streams of node (the group kernel-cluster has them)";
        let left_out: Vec<&str> = self.left_out().map(|kernel| kernel.name).collect();
        if left_out.is_empty() {
            return IN_EACH.to_owned();
        }
        let left_out = format!("left out: kernels {}; --vm all runs them, for some minutes each", left_out.join(", "));
        if self.have_arm64() {
            return format!("{left_out}; {IN_EACH}");
        }
        let name = ARM64.name;
        let arm64 = format!(
            "a sample has {name}, whose program takes minutes to build, if its number modulo {ARM64_DIVISOR} is {ARM64_REMAINDER}"
        );
        format!("{left_out}; {arm64}; {IN_EACH}")
    }

    fn left_out(&self) -> impl Iterator<Item = Kernel> {
        known().filter(|kernel| !self.chosen.contains(kernel))
    }
}

fn known() -> impl Iterator<Item = Kernel> {
    OLD.into_iter().chain([NEWEST, ARM64])
}

/// Parses `all`, or names separated by commas.
impl FromStr for Kernels {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        if text == "all" {
            return Ok(Self::all());
        }
        let kernel = |name: &str| {
            let names: Vec<&str> = Self::names().collect();
            let found = known().find(|kernel| kernel.name == name);
            found.ok_or_else(|| anyhow::anyhow!("there is no `{name}`: it is `all`, or some of {}", names.join(",")))
        };
        Ok(Self { chosen: text.split(',').map(kernel).collect::<anyhow::Result<_>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_kernels_run_and_the_others_are_named() {
        let kernels: Kernels = "6.1,newest".parse().unwrap();
        assert_eq!(kernels.filters().collect::<Vec<_>>(), ["kernel_6_1_of_bookworm", "newest_kernel_of_trixie_backports"]);
        assert!(
            kernels.sentence().starts_with("left out: kernels 5.10, 6.12, arm64-6.12; --vm all runs them"),
            "{}",
            kernels.sentence()
        );
        let arm64 = "a sample has arm64-6.12, whose program takes minutes to build, if its number modulo 8 is 5";
        assert!(kernels.sentence().contains(arm64), "{}", kernels.sentence());
        assert!(!kernels.is_complete() && "all".parse::<Kernels>().unwrap().is_complete());
        let error = "6.6".parse::<Kernels>().unwrap_err().to_string();
        assert_eq!(error, "there is no `6.6`: it is `all`, or some of 5.10,6.1,6.12,newest,arm64-6.12");
    }

    #[test]
    fn consecutive_samples_boot_every_old_kernel_and_seldom_arm64() {
        let booted: Vec<String> =
            (20_000..20_024).flat_map(|number| Kernels::of_sample(number).filters().collect::<Vec<_>>()).collect();
        let times = |kernel: Kernel| booted.iter().filter(|test| *test == kernel.test).count();
        assert_eq!((OLD.map(times), times(ARM64), booted.len()), ([7, 7, 7], 3, 24));
    }

    #[test]
    fn test_of_one_kernel_is_not_selected_with_another() {
        for kernel in known() {
            let selected: Vec<&str> = known().map(|other| other.test).filter(|test| test.contains(kernel.test)).collect();
            assert_eq!(selected, [kernel.test]);
        }
    }
}
