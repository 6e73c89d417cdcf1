//! Where a run takes place, which decides the defaults of its output and of its end.

use std::path::{Path, PathBuf};
use std::time::Duration;

use signal_hook::consts::SIGTERM;

use super::flags::Otherwise;
use crate::pod_layout::{ATTACH_SOCKET, OWN};
use crate::session::{ENDED_AT_ONCE, Shutdown};

/// The place of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A user's machine: a user reads along, and stops it.
    Machine,
    /// A pod, as a sidecar or as a probe: a log is kept of the output. The kubelet stops a sidecar after the other containers.
    Pod,
}

impl Place {
    /// The report's destination without `--report`. On a user's machine, live lines are on stdout. A pod's log has both.
    pub(super) const fn report(self) -> Otherwise {
        match self {
            Self::Machine => Otherwise::Stderr,
            Self::Pod => Otherwise::Stdout,
        }
    }

    /// The socket for `watchtap attach` without `--attach-socket`; `None` if the process ID finds it. The program that attaches to
    /// a pod runs in the sidecar's container, and has only this path.
    pub(super) fn attach_socket(self) -> Option<PathBuf> {
        match self {
            Self::Machine => None,
            Self::Pod => Some(Path::new(OWN).join(ATTACH_SOCKET)),
        }
    }

    /// How connections end that are open when shutdown is requested; `grace` is that of `--grace`.
    ///
    /// A pod has 30 s by default (`terminationGracePeriodSeconds`), and the report needs some of them. Usually, its clients have
    /// ended before the sidecar is asked to. If not, as when the node shuts down, they still need the API server, for example to
    /// give up a lease.
    pub(super) fn shutdown(self, grace: Option<Duration>) -> Shutdown {
        match self {
            Self::Machine => Shutdown::Drain(grace.unwrap_or(Duration::from_secs(30))),
            Self::Pod => Shutdown::WhenIdle(grace.unwrap_or(Duration::from_secs(20))),
        }
    }

    /// The signal that changes nothing once shutdown was requested. The kubelet may repeat its SIGTERM, as after its own restart.
    /// The clients still have their time then, and after the grace period of the pod, the kubelet sends SIGKILL.
    pub(super) const fn ignored_at_shutdown(self) -> Option<i32> {
        match self {
            Self::Machine => None,
            Self::Pod => Some(SIGTERM),
        }
    }

    /// The exit code after a second request to shut down. In a pod, that is no failure: some tools take the exit code of any
    /// container for that of the pod's work (linkerd/linkerd2#13349).
    pub(super) const fn exit_code_at_once(self) -> u8 {
        match self {
            Self::Machine => ENDED_AT_ONCE,
            Self::Pod => 0,
        }
    }
}
