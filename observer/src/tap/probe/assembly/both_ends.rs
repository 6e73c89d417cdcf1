//! Connections with both ends on this machine. Each is reported once, from the end that is known first.
//!
//! OpenSSL's writes are recorded when they return, and by then the other end may have read, answered and closed. So one end may
//! become known after the other has ended. The client's process may become known after the bytes that its server received.

use std::collections::HashMap;
use std::time::Duration;

use observer_core::observation::Process;
use observer_core::time::Timestamp;
use observer_ebpf::{ConnectionKey, Role};

use super::place::{Ends, Place};
use crate::intake::PendingProcess;

/// How long a reported server's end waits for the process of its client.
const CLIENT_TIME: Duration = Duration::from_millis(100);

/// Ends that are reported, or will be with their first bytes.
#[derive(Debug, Default)]
pub(super) struct BothEnds {
    told: HashMap<Ends, Told>,
}

#[derive(Debug)]
struct Told {
    connection: ConnectionKey,
    role: Role,
    client: Client,
    over: Option<Timestamp>,
}

/// The client's process, which a server's end does not know.
#[derive(Debug)]
enum Client {
    NotKnown,
    Awaited(PendingProcess, Timestamp),
    Known(Process),
}

impl BothEnds {
    /// Takes an end that became known. False if it is the other end of a reported connection, or of one that ended recently. A
    /// second end on the same side is from another network with the same addresses, or its predecessor is over.
    pub(super) fn take(&mut self, connection: ConnectionKey, place: &Place) -> bool {
        if let Some(told) = self.told.get_mut(&place.ends).filter(|told| told.role != place.role) {
            if place.role == Role::Client {
                told.client_is(place.process.clone());
            }
            return false;
        }
        let told = Told { connection, role: place.role, client: Client::NotKnown, over: None };
        self.told.insert(place.ends, told);
        true
    }

    /// The client's process, if its end became known before the server's end was reported.
    pub(super) fn client(&self, ends: &Ends) -> Option<Process> {
        match &self.told.get(ends)?.client {
            Client::Known(process) => Some(process.clone()),
            Client::NotKnown | Client::Awaited(..) => None,
        }
    }

    /// A server's end was reported at this time; `pending` waits for its client's process.
    pub(super) fn await_client(&mut self, at: Timestamp, ends: &Ends, pending: PendingProcess) {
        if let Some(told) = self.told.get_mut(ends) {
            told.client = Client::Awaited(pending, at);
        }
    }

    /// Marks a connection as over.
    pub(super) fn over(&mut self, at: Timestamp, connection: ConnectionKey, ends: &Ends) {
        if let Some(told) = self.told.get_mut(ends).filter(|told| told.connection == connection) {
            told.over = Some(at);
        }
    }

    /// Forgets connections that have been over for `linger`, and gives up overdue clients.
    pub(super) fn pass(&mut self, now: Timestamp, linger: Duration) {
        self.told.retain(|_, told| {
            if matches!(told.client, Client::Awaited(_, since) if since.plus(CLIENT_TIME) <= now) {
                told.client = Client::NotKnown;
            }
            told.over.is_none_or(|over| over.plus(linger) > now)
        });
    }
}

impl Told {
    fn client_is(&mut self, process: Process) {
        match std::mem::replace(&mut self.client, Client::NotKnown) {
            Client::Awaited(pending, _) => pending.found(process),
            Client::NotKnown | Client::Known(_) => self.client = Client::Known(process),
        }
    }
}
