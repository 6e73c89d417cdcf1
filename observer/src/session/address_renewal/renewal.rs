//! Looks names up again and reads the EndpointSlice while a probe runs.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use observer_core::series::ProbeAddresses;
use tokio::sync::{oneshot, watch};
use tokio::time::sleep;

use super::known_addresses::KnownAddresses;
use super::listeners::Listeners;
use super::pace::{Due, Pace};
use super::resolver::Resolver;
use crate::api_server::{EndpointSliceReader, UpstreamId};
use crate::backoff::chance;
use crate::intake::Intake;
use crate::printable::print_message;
use crate::tap::probe::{FollowedAddresses, MAX_ADDRESSES, ServerAddresses};

/// The inputs of a renewal.
pub(in crate::session) struct Renewal {
    pub(in crate::session) known: KnownAddresses,
    /// The names of the servers in messages.
    pub(in crate::session) names: BTreeMap<UpstreamId, String>,
    /// The EndpointSlice to read, and the server whose addresses it has.
    pub(in crate::session) slice: Option<(UpstreamId, EndpointSliceReader)>,
    pub(in crate::session) resolver: Box<dyn Resolver>,
    /// The check for listeners on this machine, if connections are followed at the server's end.
    pub(in crate::session) listeners: Option<Listeners>,
    /// Where the addresses go.
    pub(in crate::session) addresses: ServerAddresses,
    /// Where the numbers for metrics go.
    pub(in crate::session) intake: Intake,
}

/// A renewal under way.
pub(super) struct Renewing {
    renewal: Renewal,
    pace: Pace,
    followed: watch::Receiver<Arc<FollowedAddresses>>,
    /// Addresses that were in a message, or were followed at the start.
    announced: BTreeSet<SocketAddr>,
    /// Whether addresses found no room when it was last looked at.
    lacks_room: bool,
    numbers: ProbeAddresses,
    /// Why the last request for the EndpointSlice failed.
    slice_error: Option<String>,
}

/// Sentences for the report at the end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::session) struct Renewed(pub(in crate::session) Vec<String>);

impl Renewal {
    /// Keeps the addresses up to date until `stop` is gone.
    pub(in crate::session) async fn run(self, stop: oneshot::Receiver<()>) -> Renewed {
        let mut renewing = Renewing::begin(self, chance());
        tokio::select! {
            () = renewing.keep_up() => {}
            // The sender is dropped at the end.
            _ended = stop => {}
        }
        renewing.end()
    }
}

impl Renewing {
    pub(super) fn begin(renewal: Renewal, chance: u64) -> Self {
        let mut followed = renewal.addresses.followed();
        let announced = followed.borrow_and_update().addresses().into_iter().collect();
        // The first look has to see addresses that found no room at the start.
        followed.mark_changed();
        let pace = Pace::begin(renewal.slice.is_some(), chance);
        Self { renewal, pace, followed, announced, lacks_room: false, numbers: ProbeAddresses::default(), slice_error: None }
    }

    async fn keep_up(&mut self) {
        let begun = Instant::now();
        loop {
            self.look().into_iter().for_each(print_message);
            self.check_listeners().await.into_iter().for_each(print_message);
            let pause = self.pace.next().saturating_sub(begun.elapsed());
            let is_due = tokio::select! {
                () = sleep(pause) => true,
                changed = self.followed.changed() => {
                    if changed.is_err() {
                        // The probe has ended.
                        return;
                    }
                    self.followed.mark_changed();
                    false
                }
            };
            if is_due {
                self.turn(begun.elapsed(), chance()).await.into_iter().for_each(print_message);
            }
        }
    }

    /// Does the work that is due; returns messages.
    pub(super) async fn turn(&mut self, now: Duration, chance: u64) -> Vec<String> {
        let transfers = self.renewal.slice.as_ref().map_or(0, |(server, _)| self.renewal.addresses.transfers(*server));
        let Due { lookups, slice } = self.pace.due(now, transfers, chance);
        let mut messages = Vec::new();
        if lookups {
            for (number, endpoint) in self.renewal.known.changeable() {
                let found = self.renewal.resolver.look_up(&endpoint).await.map_err(|error| error.to_string());
                messages.extend(self.renewal.known.looked_up(number, found));
            }
        }
        if slice {
            messages.extend(self.read_slice(now, chance).await);
        }
        if lookups && let Some(listeners) = &mut self.renewal.listeners {
            listeners.look_again();
        }
        if lookups || slice {
            self.renewal.addresses.are(self.renewal.known.servers());
        }
        messages
    }

    /// Checks whether a process listens on the ports of the known addresses, if they have changed, or if there was none. Returns a
    /// message if that has changed.
    pub(super) async fn check_listeners(&mut self) -> Option<String> {
        let ProbeAddresses { slice_read, slice_refused, slice_failed, .. } = self.numbers;
        let Renewal { listeners, known, slice, .. } = &mut self.renewal;
        let is_slice_awaited = slice.is_some() && slice_read + slice_refused + slice_failed == 0;
        let listeners = listeners.as_mut().filter(|_| !is_slice_awaited)?;
        listeners.check(known.servers().keys().map(SocketAddr::port).collect()).await
    }

    async fn read_slice(&mut self, now: Duration, chance: u64) -> Option<String> {
        let (server, reader) = self.renewal.slice.as_ref()?;
        let read = reader.read().await;
        let (is_done, error) = match read {
            Ok(addresses) => {
                self.renewal.known.in_slice(*server, addresses);
                self.numbers.slice_read += 1;
                (true, None)
            }
            Err(error) => {
                let is_refusal = error.is_refusal();
                *(if is_refusal { &mut self.numbers.slice_refused } else { &mut self.numbers.slice_failed }) += 1;
                (is_refusal, Some(without_slice(&error.to_string())))
            }
        };
        self.pace.noted(now, is_done, chance);
        self.renewal.intake.note_probe_addresses(self.numbers);
        // Each reason is in one message.
        let message = error.clone().filter(|_| error != self.slice_error);
        self.slice_error = error;
        message
    }

    /// Looks at the followed addresses, if they have changed; returns messages.
    pub(super) fn look(&mut self) -> Vec<String> {
        if !self.followed.has_changed().unwrap_or(false) {
            return Vec::new();
        }
        let followed = Arc::clone(&self.followed.borrow_and_update());
        let mut messages = Vec::new();
        for (address, server) in followed.servers() {
            if self.announced.insert(address)
                && let Some(name) = self.renewal.names.get(&server)
            {
                messages.push(format!("{name} is at {address}, too; connections to it are observed from now on"));
            }
        }
        self.announced.retain(|address| followed.is_followed(*address));
        let no_room = followed.without_room().len() as u64;
        if no_room > 0 && !self.lacks_room {
            messages.push(without_room(no_room));
        }
        self.lacks_room = no_room > 0;
        let former = followed.former() as u64;
        self.numbers.current = (followed.servers().count() as u64).saturating_sub(former);
        self.numbers.former = former;
        self.numbers.no_room = no_room;
        self.renewal.intake.note_probe_addresses(self.numbers);
        messages
    }

    pub(super) fn end(self) -> Renewed {
        let mut sentences = Vec::new();
        if self.lacks_room {
            sentences.push(without_room(self.numbers.no_room));
        }
        sentences.extend(self.slice_error);
        sentences.extend(self.renewal.listeners.as_ref().and_then(Listeners::trouble));
        Renewed(sentences)
    }
}

fn without_room(number: u64) -> String {
    let addresses = if number == 1 { "1 address" } else { &format!("{number} addresses") };
    format!("no room for {addresses} of API servers: a probe follows {MAX_ADDRESSES} at most, and does not see connections to more")
}

fn without_slice(why: &str) -> String {
    format!(
        "cannot read the EndpointSlice kubernetes in the namespace default: {why}. Clients are not seen if their sockets have an \
         address of an API server in place of the cluster IP. Pass such addresses with --api-server; to send no request, pass \
         --no-endpoint-slice-request"
    )
}
