//! The result of `watchtap probe --check`, as plain data: the probe produces it, and the views show it.

use std::fmt;

use serde::Serialize;

/// The probe's requirements on this machine, and the TLS libraries of its processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProbeCheck {
    /// Requirements of a probe, in the order of the table. Those on which most others depend come first.
    pub requirements: Vec<Requirement>,
    /// Programs and libraries with TLS code that run on this machine. Those whose traffic a probe does not see come first.
    pub files: Vec<CheckedFile>,
    /// Processes that the kernel does not let us inspect.
    pub not_examined: Vec<NotExamined>,
}

/// The current step of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckProgress<'c> {
    /// The programs are loaded and attached for a moment.
    Trial,
    /// A program or library is inspected.
    Program {
        /// Its position, from 1.
        index: usize,
        /// The number of programs and libraries.
        of: usize,
        /// Its path.
        name: &'c str,
    },
}

/// A condition that a probe requires or benefits from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// A few words, such as "Linux 6.6 or later".
    pub name: &'static str,
    /// Whether this machine meets it.
    pub state: RequirementState,
    /// The evidence, such as the kernel's release.
    pub found: String,
    /// The traffic or facts that a probe does not see without it. `None` if it is met, or if no probe works without it.
    pub unseen: Option<&'static str>,
    /// How to meet it; `None` if nothing is missing.
    pub remedy: Option<String>,
}

/// The result for one requirement, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum RequirementState {
    /// The machine meets it.
    Met,
    /// Other eBPF tools need it, a probe does not.
    DoesNotMatter,
    /// It could not be determined.
    Unknown,
    /// It is missing; a probe works, but sees less.
    Limits,
    /// It is missing, and no probe works without it.
    Missing,
}

impl fmt::Display for RequirementState {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Met => "met",
            Self::DoesNotMatter => "does not matter",
            Self::Unknown => "unknown",
            Self::Limits => "limits",
            Self::Missing => "missing",
        })
    }
}

/// A program or shared library that contains a TLS library, or may contain one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedFile {
    /// Its path, as one of its processes sees it.
    pub name: String,
    /// Whether a probe sees its TLS traffic.
    pub seen: Seen,
    /// The reason, if a probe sees none or only a part of the traffic.
    pub why: Option<String>,
    /// The TLS libraries in it; empty if they could not be determined.
    pub libraries: Vec<CheckedLibrary>,
    /// The processes that run its code, ordered by pid.
    pub processes: Vec<CheckedProcess>,
}

/// How much of a file's TLS traffic is seen, from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Seen {
    /// None of it.
    Not,
    /// All but the traffic through functions that cannot be probed.
    Partly,
    /// All of it.
    Fully,
}

/// A TLS library in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedLibrary {
    /// The library's name, such as "rustls".
    pub name: &'static str,
    /// The version of rustls; for Go, the release that built the program. `None` for other libraries, which do not state theirs.
    pub version: Option<String>,
    /// Names of the functions that carry plaintext and can be probed: those of OpenSSL's interface. Empty for other libraries.
    pub functions: Vec<&'static str>,
}

/// A process, identified by its pid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CheckedProcess {
    /// Its pid in our PID namespace.
    pub pid: u32,
    /// Its name in `/proc/PID/comm`.
    pub name: String,
}

/// Processes that cannot be inspected, all for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotExamined {
    /// The kernel's error.
    pub why: String,
    /// The processes, ordered by pid.
    pub processes: Vec<CheckedProcess>,
}

impl ProbeCheck {
    /// The worst state of any requirement; `Met` if there are none.
    pub fn state(&self) -> RequirementState {
        self.requirements.iter().map(|requirement| requirement.state).max().unwrap_or(RequirementState::Met)
    }

    /// Whether a probe can run, even if it sees less than all traffic.
    pub fn can_probe(&self) -> bool {
        self.state() < RequirementState::Missing
    }
}

impl Requirement {
    /// A requirement that the machine meets.
    pub fn met(name: &'static str, found: impl Into<String>) -> Self {
        Self::new(name, RequirementState::Met, found)
    }

    /// A requirement that other eBPF tools have and a probe does not.
    pub fn does_not_matter(name: &'static str, found: impl Into<String>) -> Self {
        Self::new(name, RequirementState::DoesNotMatter, found)
    }

    /// A requirement whose state could not be determined.
    pub fn unknown(name: &'static str, found: impl Into<String>) -> Self {
        Self::new(name, RequirementState::Unknown, found)
    }

    /// A missing requirement, without which a probe does not see `unseen`.
    pub fn limits(name: &'static str, found: impl Into<String>, unseen: &'static str, remedy: impl Into<String>) -> Self {
        let remedy = Some(remedy.into());
        Self { unseen: Some(unseen), remedy, ..Self::new(name, RequirementState::Limits, found) }
    }

    /// A missing requirement without which no probe works.
    pub fn missing(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..Self::new(name, RequirementState::Missing, found) }
    }

    /// The limitation of a probe without it, in one sentence; `None` if there is none.
    pub fn limit(&self) -> Option<String> {
        Some(format!("{}: {}: {}", self.name, self.found, self.unseen?))
    }

    /// Whether a probe that meets an error reports this limitation.
    pub fn is_cause_of(&self, limit: &str) -> bool {
        self.unseen.is_some_and(|unseen| limit.ends_with(unseen))
    }

    fn new(name: &'static str, state: RequirementState, found: impl Into<String>) -> Self {
        Self { name, state, found: found.into(), unseen: None, remedy: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_names_the_requirement_and_the_evidence() {
        let unmet = Requirement::limits("CAP_SYS_PTRACE", "not in effect", "others are not seen", "run as root");
        assert_eq!(unmet.limit().as_deref(), Some("CAP_SYS_PTRACE: not in effect: others are not seen"));
        assert!(unmet.is_cause_of("EPERM: others are not seen") && !unmet.is_cause_of("EINVAL: threads are not seen"));
        let met = Requirement::met("CAP_BPF", "in effect");
        assert!(met.limit().is_none() && !met.is_cause_of(""));
    }
}
