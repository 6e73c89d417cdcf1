//! Runs the complete check on this machine.

use super::machine::Machine;
use super::requirements::requirements;
use super::tls_files::checked_files;
use crate::probe_check_result::{CheckProgress, ProbeCheck};

impl ProbeCheck {
    /// Loads and attaches the programs as a probe does, and detaches them at once. The running processes are not examined: the probe
    /// that follows does it.
    pub fn of_rights() -> Self {
        Self { requirements: requirements(&Machine::here()), files: Vec::new(), not_examined: Vec::new() }
    }

    /// Loads and attaches the programs as a probe does, detaches them at once, and examines the running processes.
    pub fn of_this_machine(progress: &mut dyn FnMut(CheckProgress<'_>)) -> Self {
        progress(CheckProgress::Trial);
        let requirements = requirements(&Machine::here());
        let (files, not_examined) = checked_files(progress);
        Self { requirements, files, not_examined }
    }
}
