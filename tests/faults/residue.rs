//! Where clients may behave otherwise than without watchtap, and why.

use observer_tests::CacheClient;

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
