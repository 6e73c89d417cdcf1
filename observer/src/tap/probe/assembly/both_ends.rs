//! Connections with both ends on this machine. Each is reported once, from the end that is known first, or from the server's.
//!
//! OpenSSL's writes are recorded when they return, and by then the other end may have read, answered and closed. So one end may
//! become known only after the other has ended. The client's process may become known only after its server has received bytes.

use std::collections::HashMap;
use std::time::Duration;

use observer_core::observation::Process;
use observer_core::time::Timestamp;
use observer_ebpf::{ConnectionKey, Role};

use super::socket::{Endpoints, Socket};
use crate::intake::PendingProcess;

/// How long the client's process is awaited after the server's end of a connection was reported.
const CLIENT_TIME: Duration = Duration::from_millis(100);
/// How long a client's process is kept for the server's end, if only that is reported.
const SERVER_TIME: Duration = Duration::from_secs(1);
/// Maximum number of such processes.
const MAX_CLIENTS: usize = 16_384;

/// Ends that are already reported, and ends that will be reported with their first bytes.
#[derive(Debug, Default)]
pub(super) struct BothEnds {
    reported: HashMap<Endpoints, Reported>,
    /// Whether only the server's end is reported.
    are_servers_alone: bool,
    /// In that case: processes of clients whose server's end is unknown, perhaps since it is on another machine.
    clients: HashMap<Endpoints, (Timestamp, Process)>,
}

#[derive(Debug)]
struct Reported {
    connection: ConnectionKey,
    role: Role,
    client: Client,
    over: Option<Timestamp>,
}

/// The client's process, which is unknown at the server's end.
#[derive(Debug)]
enum Client {
    Unknown,
    Awaited(PendingProcess, Timestamp),
    Known(Process),
}

impl BothEnds {
    /// Reports the server's end only.
    pub(super) fn of_servers() -> Self {
        Self { are_servers_alone: true, ..Self::default() }
    }

    /// Takes an end that became known at this time. Returns false if it is not reported, or if the other end of its connection is
    /// already reported, even if the connection ended recently. A second end with the same role belongs to another connection. That
    /// connection has the same addresses, but in another network or at a later time.
    pub(super) fn take(&mut self, at: Timestamp, connection: ConnectionKey, socket: &Socket) -> bool {
        if let Some(reported) = self.reported.get_mut(&socket.endpoints).filter(|reported| reported.role != socket.role) {
            if socket.role == Role::Client {
                reported.client_is(socket.process.clone());
            }
            return false;
        }
        if self.are_servers_alone && socket.role == Role::Client {
            if self.clients.len() < MAX_CLIENTS {
                self.clients.insert(socket.endpoints, (at, socket.process.clone()));
            }
            return false;
        }
        let client = self.clients.remove(&socket.endpoints).map_or(Client::Unknown, |(_, process)| Client::Known(process));
        let reported = Reported { connection, role: socket.role, client, over: None };
        self.reported.insert(socket.endpoints, reported);
        true
    }

    /// The client's process, if the client's end became known before the server's end was reported.
    pub(super) fn client(&self, endpoints: &Endpoints) -> Option<Process> {
        match &self.reported.get(endpoints)?.client {
            Client::Known(process) => Some(process.clone()),
            Client::Unknown | Client::Awaited(..) => None,
        }
    }

    /// Notes that a server's end was reported at this time; `pending` waits for its client's process.
    pub(super) fn await_client(&mut self, at: Timestamp, endpoints: &Endpoints, pending: PendingProcess) {
        if let Some(reported) = self.reported.get_mut(endpoints) {
            reported.client = Client::Awaited(pending, at);
        }
    }

    /// Marks a connection as over.
    pub(super) fn over(&mut self, at: Timestamp, connection: ConnectionKey, endpoints: &Endpoints) {
        if let Some(reported) = self.reported.get_mut(endpoints).filter(|reported| reported.connection == connection) {
            reported.over = Some(at);
        }
    }

    /// Forgets connections that have been over for `linger`, and stops waiting for clients after [`CLIENT_TIME`].
    pub(super) fn expire(&mut self, now: Timestamp, linger: Duration) {
        self.clients.retain(|_, (since, _)| since.plus(SERVER_TIME) > now);
        self.reported.retain(|_, reported| {
            if matches!(reported.client, Client::Awaited(_, since) if since.plus(CLIENT_TIME) <= now) {
                reported.client = Client::Unknown;
            }
            reported.over.is_none_or(|over| over.plus(linger) > now)
        });
    }
}

impl Reported {
    fn client_is(&mut self, process: Process) {
        match std::mem::replace(&mut self.client, Client::Unknown) {
            Client::Awaited(pending, _) => pending.found(process),
            Client::Unknown | Client::Known(_) => self.client = Client::Known(process),
        }
    }
}
