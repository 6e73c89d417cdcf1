//! The kernels that virtual machines boot: `tests/kernel/vm` has one test for each.

use std::str::FromStr;

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
    /// One of the old kernels. Consecutive numbers select one after the other.
    pub(super) fn of_sample(number: u64) -> Self {
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

    /// The remark on what does not run.
    pub(super) fn sentence(&self) -> String {
        const IN_EACH: &str = "left out in each: a real kube-apiserver (the group kernel-cluster has one)";
        if self.is_complete() {
            return IN_EACH.to_owned();
        }
        let left_out: Vec<&str> = self.left_out().map(|kernel| kernel.name).collect();
        format!("left out: kernels {}; --vm all runs them, for some minutes each; {IN_EACH}", left_out.join(", "))
    }

    fn left_out(&self) -> impl Iterator<Item = Kernel> {
        known().filter(|kernel| !self.chosen.contains(kernel))
    }
}

fn known() -> impl Iterator<Item = Kernel> {
    OLD.into_iter().chain([NEWEST])
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
        assert!(kernels.sentence().starts_with("left out: kernels 5.10, 6.12; --vm all runs them"), "{}", kernels.sentence());
        assert!(!kernels.is_complete() && "all".parse::<Kernels>().unwrap().is_complete());
        let error = "6.6".parse::<Kernels>().unwrap_err().to_string();
        assert_eq!(error, "there is no `6.6`: it is `all`, or some of 5.10,6.1,6.12,newest");
    }

    #[test]
    fn consecutive_samples_boot_every_old_kernel() {
        let mut booted: Vec<String> =
            (20_000..20_003).flat_map(|number| Kernels::of_sample(number).filters().collect::<Vec<_>>()).collect();
        booted.sort();
        assert_eq!(booted, ["kernel_5_10_of_bullseye", "kernel_6_12_of_trixie", "kernel_6_1_of_bookworm"]);
    }
}
