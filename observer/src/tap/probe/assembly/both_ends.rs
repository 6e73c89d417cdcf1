//! Connections with both ends on this machine: each is told once, seen from whichever end is known first.
//!
//! OpenSSL's writes are known when they return, and by then the other end may have read, answered and closed. So an end may become known behind the whole life of the
//! other one, and which process the client is may be known behind what its server received.

use std::collections::HashMap;
use std::time::Duration;

use observer_core::observation::Process;
use observer_core::time::Timestamp;
use observer_ebpf::{ConnectionKey, Role};

use super::place::{Ends, Place};
use crate::intake::PendingProcess;

/// For how long a server's end waits for the process of its client, once it is told.
const CLIENT_TIME: Duration = Duration::from_millis(100);

/// The ends that are told, or will be with their first bytes.
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

/// The process of the client, of which a server's end knows nothing.
#[derive(Debug)]
enum Client {
    NotKnown,
    Awaited(PendingProcess, Timestamp),
    Known(Process),
}

impl BothEnds {
    /// Takes an end that became known; false if it is the other one of what is told, or was of late. Of the same side it is another network with the same addresses, or
    /// the one before is over.
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

    /// The client's process, if its end became known before that of its server was told.
    pub(super) fn client(&self, ends: &Ends) -> Option<Process> {
        match &self.told.get(ends)?.client {
            Client::Known(process) => Some(process.clone()),
            Client::NotKnown | Client::Awaited(..) => None,
        }
    }

    /// A server's end is told at this time, and who is to be told of its client.
    pub(super) fn await_client(&mut self, at: Timestamp, ends: &Ends, pending: PendingProcess) {
        if let Some(told) = self.told.get_mut(ends) {
            told.client = Client::Awaited(pending, at);
        }
    }

    /// Nothing more is told of a connection.
    pub(super) fn over(&mut self, at: Timestamp, connection: ConnectionKey, ends: &Ends) {
        if let Some(told) = self.told.get_mut(ends).filter(|told| told.connection == connection) {
            told.over = Some(at);
        }
    }

    /// Forgets what has been over for so long, and waits no longer for clients than is due.
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
