//! How programs are attached to files, and to the sends and receives of threads. Both are chosen by trying, once at the start.

/// How programs are attached to places in files; better ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachBy {
    /// One `uprobe_multi` link for all places of a program in a file (Linux 6.6).
    MultiLink,
    /// One perf event for each place, with a link that has a cookie (Linux 5.15). Needs `CAP_SYS_ADMIN`.
    EventLinks,
    /// One perf event for each place, and a copy of the program for each file, which has the cookie as a constant. Needs
    /// `CAP_SYS_ADMIN`.
    EventCopies,
}

impl AttachBy {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Self; 3] = [Self::MultiLink, Self::EventLinks, Self::EventCopies];

    /// Its name in options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MultiLink => "multi-link",
            Self::EventLinks => "event-links",
            Self::EventCopies => "event-copies",
        }
    }

    /// Its name in messages.
    pub const fn description(self) -> &'static str {
        match self {
            Self::MultiLink => "uprobe_multi links",
            Self::EventLinks => "perf events with links",
            Self::EventCopies => "perf events with copies of the programs",
        }
    }
}

/// How the programs learn which sockets a thread uses; better ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairBy {
    /// The tracepoints `sock_send_length` and `sock_recv_length` (Linux 6.3).
    Tracepoints,
    /// The returns of the kernel's functions `tcp_sendmsg` and `tcp_recvmsg`.
    Returns,
}

impl PairBy {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Self; 2] = [Self::Tracepoints, Self::Returns];

    /// Its name in options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tracepoints => "tracepoints",
            Self::Returns => "returns",
        }
    }
}
