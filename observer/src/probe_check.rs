//! What is said of a machine before anything is probed: plain values, which the probe's tap makes and the views show.

use std::fmt;

use serde::Serialize;

/// What this machine allows a probe, and what the TLS libraries of its processes offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProbeCheck {
    /// What a probe needs, those that most others depend on first.
    pub requirements: Vec<Requirement>,
    /// Files with TLS libraries that processes here run, those that are not seen first.
    pub files: Vec<CheckedFile>,
    /// Processes that may not be looked at.
    pub not_looked_at: Vec<NotLookedAt>,
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckProgress<'c> {
    /// The programs are loaded and attached.
    Trial,
    /// A program or library is looked at.
    Program {
        /// Which one, from 1 on.
        index: usize,
        /// How many there are.
        of: usize,
        /// Its name.
        name: &'c str,
    },
}

/// Something that a probe needs or is better with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// What it is, in a few words.
    pub name: &'static str,
    /// Whether it is there.
    pub state: RequirementState,
    /// What was found.
    pub found: String,
    /// What is not seen without it.
    pub unseen: Option<&'static str>,
    /// What to do about it; nothing where nothing is missing.
    pub remedy: Option<String>,
}

/// Whether something is there, in the order in which it is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum RequirementState {
    /// It is there.
    Met,
    /// Others ask for it, and a probe does not.
    DoesNotMatter,
    /// It could not be found out.
    NotKnown,
    /// It is not there, and a probe works with less.
    Limits,
    /// It is not there, and no probe works.
    Missing,
}

impl fmt::Display for RequirementState {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Met => "met",
            Self::DoesNotMatter => "does not matter",
            Self::NotKnown => "not known",
            Self::Limits => "limits",
            Self::Missing => "missing",
        })
    }
}

/// A program or shared library with a TLS library in it, or one of which that cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedFile {
    /// Its name as one of its processes has it.
    pub name: String,
    /// Whether what goes through it is seen.
    pub seen: Seen,
    /// Why not, or not all of it.
    pub why: Option<String>,
    /// What is in it; empty where that cannot be told.
    pub libraries: Vec<CheckedLibrary>,
    /// Those that run code of it, by number.
    pub processes: Vec<CheckedProcess>,
}

/// Whether what goes through a file is seen, in the order in which it is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Seen {
    /// Nothing of it.
    Not,
    /// What does not pass the functions that cannot be probed.
    Partly,
    /// All of it.
    Wholly,
}

/// A TLS library in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedLibrary {
    /// Whose it is.
    pub name: &'static str,
    /// Its version, of rustls; of Go's, the release that built the program. Others do not tell it.
    pub version: Option<String>,
    /// Its functions that can be probed and that plaintext passes, where the file names them: those of OpenSSL's interface.
    pub functions: Vec<&'static str>,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CheckedProcess {
    /// Its number in our PID namespace.
    pub pid: u32,
    /// As `/proc/PID/comm` tells it.
    pub name: String,
}

/// Processes that may not be looked at, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotLookedAt {
    /// What the kernel said.
    pub why: String,
    /// Them, by number.
    pub processes: Vec<CheckedProcess>,
}

impl ProbeCheck {
    /// The worst state of a requirement; that it is met where there is none.
    pub fn state(&self) -> RequirementState {
        self.requirements.iter().map(|requirement| requirement.state).max().unwrap_or(RequirementState::Met)
    }

    /// Whether a probe can run, be it with less than all.
    pub fn can_probe(&self) -> bool {
        self.state() < RequirementState::Missing
    }
}

impl Requirement {
    /// It is there.
    pub fn met(name: &'static str, found: impl Into<String>) -> Self {
        Self::new(name, RequirementState::Met, found)
    }

    /// A probe does not ask for it.
    pub fn does_not_matter(name: &'static str, found: impl Into<String>) -> Self {
        Self::new(name, RequirementState::DoesNotMatter, found)
    }

    /// It could not be found out.
    pub fn not_known(name: &'static str, found: impl Into<String>) -> Self {
        Self::new(name, RequirementState::NotKnown, found)
    }

    /// It is not there, and so something is not seen.
    pub fn limits(name: &'static str, found: impl Into<String>, unseen: &'static str, remedy: impl Into<String>) -> Self {
        let remedy = Some(remedy.into());
        Self { unseen: Some(unseen), remedy, ..Self::new(name, RequirementState::Limits, found) }
    }

    /// It is not there, and so no probe works.
    pub fn missing(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..Self::new(name, RequirementState::Missing, found) }
    }

    fn new(name: &'static str, state: RequirementState, found: impl Into<String>) -> Self {
        Self { name, state, found: found.into(), unseen: None, remedy: None }
    }
}
