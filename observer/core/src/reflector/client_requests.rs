//! The requests of each client, counted.

use serde::Serialize;

use crate::exchange::{Client, ClientId, Exchange};
use crate::k8s::Verb;
use crate::observation::Process;
use crate::quantity::Amount;
use crate::time::microseconds;

/// Counts of the requests of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClientRequests {
    /// Requests of any kind, those under way included.
    pub requests: u64,
    /// Lists among them, with each page of a list.
    pub lists: u64,
    /// Finished lists that read their objects from etcd.
    pub lists_from_etcd: u64,
    /// Finished lists whose layer is unknown.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub lists_unknown: u64,
    /// Watches among them.
    pub watches: u64,
    /// Finished requests that were answered with 4xx or 5xx, and watches that ended with an `ERROR` event.
    pub failed: u64,
    /// Bytes of the response bodies of the finished requests.
    pub bytes: Amount,
    /// Sum of the times of the finished requests other than watches, logs, and sessions such as exec, in microseconds.
    pub total_us: u64,
}

impl ClientRequests {
    /// No request.
    pub const NONE: Self = Self {
        requests: 0,
        lists: 0,
        lists_from_etcd: 0,
        lists_unknown: 0,
        watches: 0,
        failed: 0,
        bytes: Amount::ZERO,
        total_us: 0,
    };

    pub(super) fn begin(&mut self, exchange: &Exchange) {
        self.requests = self.requests.saturating_add(1);
        self.lists = self.lists.saturating_add(u64::from(exchange.verb() == Some(Verb::List)));
        self.watches = self.watches.saturating_add(u64::from(exchange.verb() == Some(Verb::Watch)));
    }

    pub(super) fn end(&mut self, exchange: &Exchange) {
        let (from_etcd, unknown) = exchange.lists_from_etcd_and_unknown();
        self.lists_from_etcd = self.lists_from_etcd.saturating_add(from_etcd);
        self.lists_unknown = self.lists_unknown.saturating_add(unknown);
        self.failed = self.failed.saturating_add(u64::from(exchange.has_failed()));
        self.bytes = self.bytes.saturating_add(exchange.amount(exchange.response_bytes));
        // The length of these is up to the client.
        let lasts = exchange.watch.is_some() || exchange.upgraded.is_some() || exchange.request.is_long_running();
        let total = exchange.total().filter(|_| !lasts);
        self.total_us = self.total_us.saturating_add(total.map_or(0, microseconds));
    }
}

/// A client and its requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientRow {
    /// The number of the client.
    pub client_id: ClientId,
    /// The client, as its first request identifies it, without the kubectl command.
    pub client: Client,
    /// Its process; `None` if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// In a log, its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Counts over all its connections.
    #[serde(flatten)]
    pub requests: ClientRequests,
}
