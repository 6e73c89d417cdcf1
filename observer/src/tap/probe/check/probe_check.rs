//! The whole of what is said of a machine, made.

use super::machine::Machine;
use super::requirements::requirements;
use super::tls_files::checked_files;
use crate::probe_check::{CheckProgress, ProbeCheck};

impl ProbeCheck {
    /// Tries what a probe does, leaves it at once, and looks at what runs here.
    pub fn of_this_machine(progress: &mut dyn FnMut(CheckProgress<'_>)) -> Self {
        progress(CheckProgress::Trial);
        let requirements = requirements(&Machine::here());
        let (files, not_looked_at) = checked_files(progress);
        Self { requirements, files, not_looked_at }
    }
}
