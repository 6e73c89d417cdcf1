//! Where clients may behave otherwise than without watchtap, and why.

use observer_tests::{CacheClient, ClientGo};

use super::fault::Fault;

/// The cells that cannot be equal, each with its reason.
///
/// Two things cannot be mirrored at the level of connections: the first dial of a client that was idle when upstream went away is reset and
/// not refused, and a SYN that nobody answers has been answered by us before we know. The clients of this matrix have watches
/// open, so the first is not theirs; and its silences begin above TCP, as those of a server that hangs do. So there are none.
const RESIDUES: &[(Fault, CacheClient, &str)] = &[];

/// Why this cell may differ, if it may.
pub(crate) fn residue(fault: Fault, client: CacheClient) -> Option<&'static str> {
    RESIDUES.iter().find(|(of, with, _)| (*of, *with) == (fault, client)).map(|(_, _, reason)| *reason)
}

/// Whether what this client does is chance, whoever it speaks to: something that listens dies, and whether a client that dials at once is
/// refused, or still let in and reset, is a matter of the order in which the kernel closes the sockets of the dead. client-go 0.18 watches on
/// after the one and lists after the other. Older ones list after both, newer ones after neither.
pub(crate) fn is_chance(fault: Fault, client: CacheClient) -> bool {
    let somebody_dies =
        matches!(fault, Fault::ServerKilled | Fault::ServerTerminated | Fault::WatchtapTerminated | Fault::WatchtapKilled);
    somebody_dies && matches!(client, CacheClient::Informer(ClientGo::V0_18_0 | ClientGo::V0_18, _))
}
