//! What keeps a server from sending.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why nothing more can be sent to a client: it does not read, or not as fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blockage {
    /// The flow-control window of the stream is used up (RFC 9113 §5.2): whoever reads this response does not.
    StreamWindow,
    /// That of the connection is.
    ConnectionWindow,
    /// The client's socket takes nothing more: the whole process stands still, or the network does.
    Socket,
}

impl fmt::Display for Blockage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::StreamWindow => "flow-control window of the stream",
            Self::ConnectionWindow => "flow-control window of the connection",
            Self::Socket => "socket",
        })
    }
}
