//! The results of injecting and uninjecting, object by object.

/// The reason why an object stays as it is, and what its owner can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: String,
    pub(crate) remedy: String,
    /// Whether it is no failure: the object is a part of another one, or may run no pods.
    pub(super) may_pass: bool,
}

impl Refusal {
    pub(super) fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: remedy.into(), may_pass: false }
    }

    /// One that is no failure.
    pub(super) fn passing(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { may_pass: true, ..Self::new(reason, remedy) }
    }

    pub(super) fn outcome(self) -> Outcome {
        if self.may_pass { Outcome::Passed(self) } else { Outcome::Refused(self) }
    }
}

/// A container whose requests go through the sidecar, and its port there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Led {
    pub(crate) container: String,
    pub(crate) port: u16,
}

/// The result for one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The sidecar is in the pod now.
    Injected { led: Vec<Led>, warnings: Vec<String> },
    /// Another sidecar was in the pod: of another version or image, or with other options.
    Updated { led: Vec<Led>, warnings: Vec<String> },
    /// The sidecar was in the pod, with the same options and by the same version.
    UpToDate { led: Vec<Led>, warnings: Vec<String> },
    /// The pod is as it was before the injection.
    Uninjected,
    /// There is no sidecar to remove.
    NotInjected,
    /// No container of the pod is among those to lead.
    NotSelected,
    /// The object stays as it is, and that is no failure: a patch, or an object of an unknown kind.
    Passed(Refusal),
    /// The object cannot be changed, and stays as it is.
    Refused(Refusal),
}

/// An object with a pod, and what happened to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectOutcome {
    pub(crate) kind: String,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    /// The line of the file on which it begins.
    pub(crate) line: usize,
    /// The names of its containers, without the sidecar.
    pub(crate) containers: Vec<String>,
    pub(crate) outcome: Outcome,
}
