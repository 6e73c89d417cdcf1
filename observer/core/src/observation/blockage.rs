//! The reasons why a server cannot send more data to a client.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why no more data can be sent to a client: it does not read, or not fast enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blockage {
    /// The stream's flow-control window is used up (RFC 9113 §5.2): the client does not read this response.
    StreamWindow,
    /// The connection's flow-control window is used up.
    ConnectionWindow,
    /// The client's socket accepts no more bytes: the client's process hangs, or the network does.
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
