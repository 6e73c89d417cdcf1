//! Runs the complete check on this machine.

use std::path::Path;

use super::machine::Machine;
use super::requirements::requirements;
use super::tls_files::checked_files;
use crate::probe_check_result::{CheckProgress, ProbeCheck};
use crate::tap::probe::ProbeOptions;

impl ProbeCheck {
    /// Loads and attaches the programs as a probe does, and detaches them at once. The running processes are not examined: the probe
    /// that follows does it.
    ///
    /// `pod_logs` is the folder with the logs of pods.
    pub fn of_rights(pod_logs: &Path) -> Self {
        Self { requirements: requirements(&Machine::here(pod_logs)), files: Vec::new(), not_examined: Vec::new() }
    }

    /// Loads and attaches the programs as a probe does, detaches them at once, and examines the running processes.
    pub fn of_this_machine(progress: &mut dyn FnMut(CheckProgress<'_>)) -> Self {
        progress(CheckProgress::Trial);
        let requirements = requirements(&Machine::here(Path::new(ProbeOptions::POD_LOGS)));
        let (files, not_examined) = checked_files(progress);
        Self { requirements, files, not_examined }
    }
}
