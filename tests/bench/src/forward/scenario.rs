//! The scenarios that proxies are measured in.

use serde::Serialize;

/// The version of HTTP that client and server speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Http {
    /// HTTP/1.1
    H1,
    /// HTTP/2
    H2,
}

impl Http {
    /// Name on command lines.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::H1 => "h1",
            Self::H2 => "h2",
        }
    }
}

/// One kind of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Scenario {
    /// A large list repeatedly on one connection of HTTP/1.1
    ListH1,
    /// The same on four connections
    ListH1x4,
    /// A large list repeatedly on one connection of HTTP/2
    ListH2,
    /// The same on four connections
    ListH2x4,
    /// GETs of 600 bytes on 16 connections of HTTP/1.1
    GetH1,
    /// GETs of 600 bytes on 16 streams of one HTTP/2 connection
    GetH2,
    /// One watch with 20 000 events per second on HTTP/1.1
    EventsH1,
    /// The same on HTTP/2
    EventsH2,
    /// A new connection for each GET, four clients
    NewConnections,
    /// Watches without events, each on its own connection
    IdleWatches,
}

/// The operations of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// Lists on each of several connections.
    Lists { connections: u32 },
    /// Sequential GETs on each of several connections, or streams of one.
    Gets { clients: u32 },
    /// One watch with many events.
    Events,
    /// Single GETs, each on a new connection, from several clients.
    Connections { clients: u32 },
    /// Watches that stay open.
    Idle,
}

/// The unit of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Byte,
    Request,
    Event,
    Connection,
}

/// The amounts for one sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amounts {
    /// Bytes of one large list.
    pub(super) list: usize,
    /// Number of lists, over all connections.
    pub(super) lists: u32,
    /// Duration of all other loads, in milliseconds.
    pub(super) milliseconds: u64,
    /// Events per second.
    pub(super) events: u32,
    /// Number of idle watches.
    pub(super) watches: u32,
}

impl Amounts {
    pub(super) const FULL: Self = Self { list: 50 << 20, lists: 4, milliseconds: 1_000, events: 20_000, watches: 400 };
    pub(super) const SMOKE: Self = Self { list: 1 << 20, lists: 4, milliseconds: 20, events: 1_000, watches: 5 };

    /// The lists of one connection of several.
    pub(super) fn lists_of_each(&self, connections: u32) -> u32 {
        (self.lists / connections).max(1)
    }
}

impl Scenario {
    pub(super) const ALL: [Self; 10] = [
        Self::ListH1,
        Self::ListH1x4,
        Self::ListH2,
        Self::ListH2x4,
        Self::GetH1,
        Self::GetH2,
        Self::EventsH1,
        Self::EventsH2,
        Self::NewConnections,
        Self::IdleWatches,
    ];

    /// Display name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ListH1 => "50 MiB lists, h1, 1 connection",
            Self::ListH1x4 => "50 MiB lists, h1, 4 connections",
            Self::ListH2 => "50 MiB lists, h2, 1 connection",
            Self::ListH2x4 => "50 MiB lists, h2, 4 connections",
            Self::GetH1 => "600-byte GETs, h1, 16 connections",
            Self::GetH2 => "600-byte GETs, h2, 16 streams",
            Self::EventsH1 => "20 000 events/s, h1",
            Self::EventsH2 => "20 000 events/s, h2",
            Self::NewConnections => "a new connection a GET, h1",
            Self::IdleWatches => "idle watch, h1",
        }
    }

    pub(super) fn http(self) -> Http {
        match self {
            Self::ListH1 | Self::ListH1x4 | Self::GetH1 | Self::EventsH1 | Self::NewConnections | Self::IdleWatches => Http::H1,
            Self::ListH2 | Self::ListH2x4 | Self::GetH2 | Self::EventsH2 => Http::H2,
        }
    }

    pub(super) fn load(self) -> Load {
        match self {
            Self::ListH1 | Self::ListH2 => Load::Lists { connections: 1 },
            Self::ListH1x4 | Self::ListH2x4 => Load::Lists { connections: 4 },
            Self::GetH1 | Self::GetH2 => Load::Gets { clients: 16 },
            Self::EventsH1 | Self::EventsH2 => Load::Events,
            Self::NewConnections => Load::Connections { clients: 4 },
            Self::IdleWatches => Load::Idle,
        }
    }

    pub(super) fn unit(self) -> Unit {
        match self.load() {
            Load::Lists { .. } => Unit::Byte,
            Load::Gets { .. } => Unit::Request,
            Load::Events => Unit::Event,
            Load::Connections { .. } | Load::Idle => Unit::Connection,
        }
    }
}
