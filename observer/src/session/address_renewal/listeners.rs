//! Whether API servers listen on this machine, if the probe reads connections at the server's end.
//!
//! In a pod, the port of the Service is known at first, and no process listens on it. The EndpointSlice has the port of the API
//! server itself. So the first check waits for its answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::spawn_blocking;

/// Whether any process listens on one of these TCP ports.
type IsListenedOn = dyn Fn(&BTreeSet<u16>) -> bool + Send + Sync;

/// The ports of the API servers, and whether a process listens on any of them.
pub(in crate::session) struct Listeners {
    is_listened_on: Arc<IsListenedOn>,
    checked: BTreeSet<u16>,
    are_missing: bool,
    /// Whether missing listeners are looked for again.
    is_due: bool,
}

impl Listeners {
    /// Nothing is checked yet.
    pub(in crate::session) fn by(is_listened_on: impl Fn(&BTreeSet<u16>) -> bool + Send + Sync + 'static) -> Self {
        Self { is_listened_on: Arc::new(is_listened_on), checked: BTreeSet::new(), are_missing: false, is_due: false }
    }

    /// Looks again at the next check, if no process was seen to listen.
    pub(super) fn look_again(&mut self) {
        self.is_due = self.are_missing;
    }

    /// Checks these ports, unless they were checked before. Returns a message if they begin to lack a listener, or have one again.
    pub(super) async fn check(&mut self, ports: BTreeSet<u16>) -> Option<String> {
        if ports.is_empty() || (self.checked == ports && !self.is_due) {
            return None;
        }
        self.is_due = false;
        let (check, asked) = (Arc::clone(&self.is_listened_on), ports.clone());
        // A panic leaves the last result.
        let is_listened_on = spawn_blocking(move || check(&asked)).await.ok()?;
        let were_missing = std::mem::replace(&mut self.are_missing, !is_listened_on);
        let are_others = std::mem::replace(&mut self.checked, ports) != self.checked;
        match (were_missing, is_listened_on) {
            (true, true) => {
                Some(format!("a process on this machine listens on port {}: the API server's end is seen", self.ports()))
            }
            (true, false) if !are_others => None,
            (_, false) => self.trouble(),
            (false, true) => None,
        }
    }

    /// A sentence for the report, if no process listens on the ports.
    pub(super) fn trouble(&self) -> Option<String> {
        let ports = self.ports();
        let trouble =
            || format!("no process on this machine is seen to listen on port {ports}: no API server's end is seen until one does");
        self.are_missing.then(trouble)
    }

    fn ports(&self) -> String {
        self.checked.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
    }
}
