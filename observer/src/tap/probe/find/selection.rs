//! The processes that are recorded, as far as user space can determine; the programs in the kernel decide.

use std::collections::BTreeMap;
use std::fs;

use observer_ebpf::{FILTER_BY_CGROUP, FILTER_BY_NAME, FILTER_BY_PROCESS, NAME_LENGTH};
use procfs::process::Process;

use super::cgroup::Cgroup;
use super::start_time::started;
use crate::tap::probe::error::OptionsError;
use crate::tap::probe::kernel::Selected;
use crate::tap::probe::options::ProbeOptions;

/// Processes by PID, name and cgroup; all processes if none of these is given.
#[derive(Debug, Default)]
pub(in crate::tap::probe) struct Selection {
    /// Start times by PID, in clock ticks as in proc(5).
    processes: BTreeMap<u32, u64>,
    names: Vec<Name>,
    cgroups: Vec<Cgroup>,
}

/// The name of a process as the kernel keeps it: the first 15 bytes, padded with 0.
type Name = [u8; NAME_LENGTH];

impl Selection {
    /// Resolves the targets of the options.
    pub(in crate::tap::probe) fn of(options: &ProbeOptions) -> Result<Self, OptionsError> {
        let processes =
            options.processes.iter().map(|number| Ok((*number, started(*number).ok_or(OptionsError::NoProcess(*number))?)));
        let names = options.names.iter().map(|given| padded(given.as_bytes()).ok_or(OptionsError::EmptyName));
        let cgroups = options.cgroups.iter().map(|given| Cgroup::find(given));
        Ok(Self {
            processes: processes.collect::<Result<_, _>>()?,
            names: names.collect::<Result<_, _>>()?,
            cgroups: cgroups.collect::<Result<_, _>>()?,
        })
    }

    /// The flags of the kernel's filter.
    pub(in crate::tap::probe) fn flags(&self) -> u32 {
        let flag = |is_given: bool, flag| if is_given { flag } else { 0 };
        flag(!self.processes.is_empty(), FILTER_BY_PROCESS)
            | flag(!self.names.is_empty(), FILTER_BY_NAME)
            | flag(!self.cgroups.is_empty(), FILTER_BY_CGROUP)
    }

    /// The selected processes, as entries of the kernel's maps.
    pub(in crate::tap::probe) fn selected(&self) -> Selected {
        Selected {
            processes: self.processes.iter().map(|(number, started)| (*number, *started)).collect(),
            names: self.names.clone(),
            cgroups: self.cgroups.iter().map(Cgroup::number).collect(),
        }
    }

    /// Whether later processes may be selected.
    pub(in crate::tap::probe) fn may_grow(&self) -> bool {
        self.processes.is_empty() || !self.names.is_empty() || !self.cgroups.is_empty()
    }

    /// The processes selected by PID.
    pub(in crate::tap::probe) fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.processes.keys().copied()
    }

    /// Whether a process may be selected now; false only if it certainly is not.
    pub(in crate::tap::probe) fn may_include(&self, process: u32) -> bool {
        let is_any = self.processes.is_empty() && self.names.is_empty() && self.cgroups.is_empty();
        is_any
            || self.processes.contains_key(&process)
            || (!self.names.is_empty() && comm(process).is_none_or(|name| self.names.contains(&name)))
            || self.may_have_in_cgroup(process)
    }

    fn may_have_in_cgroup(&self, process: u32) -> bool {
        if self.cgroups.is_empty() {
            return false;
        }
        let own = i32::try_from(process).ok().and_then(|number| Process::new(number).ok()?.cgroups().ok());
        let own = own.and_then(|own| own.0.into_iter().find(|one| one.hierarchy == 0));
        own.is_none_or(|own| self.cgroups.iter().any(|cgroup| cgroup.may_have(&own.pathname)))
    }
}

/// As much of a name as the kernel keeps; `None` if it is empty.
fn padded(given: &[u8]) -> Option<Name> {
    let mut name = [0; NAME_LENGTH];
    for (place, byte) in name.iter_mut().take(NAME_LENGTH - 1).zip(given) {
        *place = *byte;
    }
    (!given.is_empty()).then_some(name)
}

fn comm(process: u32) -> Option<Name> {
    let name = fs::read(format!("/proc/{process}/comm")).ok()?;
    padded(name.strip_suffix(b"\n").unwrap_or(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(processes: &[u32], names: &[&str]) -> Result<Selection, OptionsError> {
        Selection::of(&ProbeOptions {
            processes: processes.to_vec(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            ..ProbeOptions::default()
        })
    }

    fn own_name() -> String {
        fs::read_to_string("/proc/self/comm").unwrap().trim_end().to_owned()
    }

    #[test]
    fn process_is_selected_by_any_target() {
        let (own, name) = (std::process::id(), own_name());
        for (processes, names, expected) in [
            (&[][..], &[][..], true),
            (&[own], &[], true),
            (&[1], &[], false),
            (&[], &[name.as_str()], true),
            (&[], &["another"], false),
            (&[1], &["another", &name], true),
        ] {
            let selection = selection(processes, names).unwrap();
            assert_eq!(selection.may_include(own), expected, "{processes:?} {names:?}");
        }
    }

    #[test]
    fn process_name_is_truncated_as_in_the_kernel() {
        let selection = selection(&[], &["kube-controller-manager"]).unwrap();
        assert_eq!(selection.selected().names, [*b"kube-controller\0"]);
    }

    #[test]
    fn missing_target_is_named() {
        for (processes, names, expected) in [(&[u32::MAX][..], &[][..], "no process 4294967295"), (&[], &[""], "an empty name")] {
            let error = selection(processes, names).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn only_a_selection_by_pid_does_not_grow() {
        let own = std::process::id();
        for (processes, names, expected) in [(&[][..], &[][..], true), (&[own], &[], false), (&[own], &["python3"], true)] {
            assert_eq!(selection(processes, names).unwrap().may_grow(), expected, "{processes:?} {names:?}");
        }
    }
}
