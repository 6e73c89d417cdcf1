//! The kinds of envelopes.

use serde::Serialize;

use crate::time::Timestamp;

/// The wrapping of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Envelope {
    /// An entry of `CloudWatch`, as a subscription or the command line gives it (EKS).
    CloudWatch,
    /// An entry of Azure's diagnostic settings, of its Event Hubs or of its tables (AKS).
    Azure,
    /// Docker's driver `json-file`.
    Docker,
    /// The container runtime interface: containerd and CRI-O (Kubernetes `pkg/kubelet/kuberuntime/logs/logs.go`).
    Cri,
    /// The journal of systemd, as text or as JSON.
    Journal,
    /// An object whose field `message` or `@message` has the line.
    Message,
}

impl Envelope {
    /// Its name, as the report shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CloudWatch => "CloudWatch",
            Self::Azure => "Azure",
            Self::Docker => "Docker",
            Self::Cri => "container runtime",
            Self::Journal => "journal",
            Self::Message => "message field",
        }
    }
}

/// An envelope around a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrapping {
    /// The innermost envelope.
    pub envelope: Envelope,
    /// When the line was written, as far as its envelopes state it with year and zone.
    pub at: Option<Timestamp>,
}
