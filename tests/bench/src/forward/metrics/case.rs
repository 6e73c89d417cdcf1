//! The cases: who reads the metrics of a watchtap, or receives its records.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use anyhow::Result;
use serde::Serialize;

use super::super::running::{Inputs, Open, Upstream, free_port};
use super::background::Background;
use super::visitors::{Visit, visitors};

/// Readers and collectors beside the traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Case {
    /// None; watchtap has no flag for them.
    Alone,
    /// A scrape per second.
    Scraped,
    /// Scrapers that read hardly anything.
    SlowScrapers,
    /// The visitors of [`Self::Hostile`], at a server that is not watchtap.
    Elsewhere,
    /// A thousand connections: slow and endless requests, wrong paths, and scrapes that are not read.
    Hostile,
    /// Exports of events, metrics and spans to a collector that takes them.
    Collector,
    /// Exports to a port without a listener.
    NoCollector,
    /// Exports to a collector that accepts connections and never answers.
    SilentCollector,
}

/// A watchtap, and what stands beside it.
pub(super) struct Stage {
    pub(super) case: Case,
    pub(super) open: Open,
    metrics: Option<SocketAddr>,
    _collector: Option<Receiving>,
}

/// A collector. Dropping it closes its port.
enum Receiving {
    Takes(#[expect(dead_code, reason = "it works until it is dropped")] Background),
    /// It accepts nothing by itself: the kernel completes the connections.
    IsSilent(#[expect(dead_code, reason = "it keeps the port")] TcpListener),
}

/// Connections of hostile visitors, with `--smoke` fewer.
const CONNECTIONS: usize = 1_000;
const SMOKE: usize = 8;
const SLOW: usize = 32;

impl Case {
    pub(super) const ALL: [Self; 8] = [
        Self::Alone,
        Self::Scraped,
        Self::SlowScrapers,
        Self::Elsewhere,
        Self::Hostile,
        Self::Collector,
        Self::NoCollector,
        Self::SilentCollector,
    ];

    /// Display name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Scraped => "a scrape per second",
            Self::SlowScrapers => "32 slow scrapers",
            Self::Elsewhere => "hostile visitors elsewhere",
            Self::Hostile => "hostile visitors",
            Self::Collector => "a collector",
            Self::NoCollector => "no collector",
            Self::SilentCollector => "silent collector",
        }
    }
}

impl Stage {
    /// Starts the watchtap of a case.
    pub(super) fn set(case: Case, upstream: &Upstream, place: &Inputs) -> Result<Self> {
        let loopback = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let (mut metrics, mut collector) = (None, None);
        let flag = match case {
            Case::Alone | Case::Elsewhere => Vec::new(),
            Case::Scraped | Case::SlowScrapers | Case::Hostile => {
                let address = *metrics.insert(loopback(free_port()?));
                vec!["--metrics".to_owned(), address.to_string()]
            }
            Case::Collector => {
                let (address, taking) = super::collector::collector()?;
                collector = Some(Receiving::Takes(taking));
                vec!["--otlp".to_owned(), format!("http://{address}"), "--otlp-spans".to_owned()]
            }
            Case::NoCollector => vec!["--otlp".to_owned(), format!("http://{}", loopback(free_port()?))],
            Case::SilentCollector => {
                let listener = TcpListener::bind(loopback(0))?;
                let address = listener.local_addr()?;
                collector = Some(Receiving::IsSilent(listener));
                vec!["--otlp".to_owned(), format!("http://{address}")]
            }
        };
        Ok(Self { case, open: Open::start_watchtap(&flag, upstream, place)?, metrics, _collector: collector })
    }

    /// Lets the visitors of the case in; they leave when the result is dropped.
    pub(super) fn visit(&self, is_smoke: bool) -> Result<Option<Background>> {
        let connections = if is_smoke { SMOKE } else { CONNECTIONS };
        let hostile = || [Visit::Trickle, Visit::EndlessHead, Visit::WrongPath, Visit::Unread].repeat(connections / 4);
        Ok(match (self.case, self.metrics) {
            (Case::Scraped, Some(address)) => Some(visitors(Some(address), vec![Visit::Scrape])?),
            (Case::SlowScrapers, Some(address)) => Some(visitors(Some(address), vec![Visit::Unread; SLOW])?),
            (Case::Hostile, Some(address)) => Some(visitors(Some(address), hostile())?),
            (Case::Elsewhere, _) => Some(visitors(None, hostile())?),
            (
                Case::Alone
                | Case::Scraped
                | Case::SlowScrapers
                | Case::Hostile
                | Case::Collector
                | Case::NoCollector
                | Case::SilentCollector,
                _,
            ) => None,
        })
    }
}
