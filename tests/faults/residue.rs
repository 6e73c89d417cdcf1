//! The exceptions: cells of the matrix in which clients may behave differently behind watchtap, with reasons.

use observer_tests::{CacheClient, ClientGo};

use super::fault::Fault;

/// The cells that cannot be equal, each with its reason.
///
/// watchtap cannot reproduce two situations at the level of connections. If upstream stops while a client has no connection, the
/// client's first dial is reset and not refused. And if upstream does not answer a SYN, watchtap has already accepted the client.
/// In this matrix, clients have open watches, so the first situation does not occur. Its silent servers still accept TCP
/// connections, so the second does not occur either. So there are no exceptions.
const RESIDUES: &[(Fault, CacheClient, &str)] = &[];

/// The reason why this cell may differ, or `None` if it may not.
pub(crate) fn residue(fault: Fault, client: CacheClient) -> Option<&'static str> {
    RESIDUES.iter().find(|(of, with, _)| (*of, *with) == (fault, client)).map(|(_, _, reason)| *reason)
}

/// Whether this client's behaviour depends on chance, on both routes. When a listening process dies, a client that dials
/// immediately is refused, or is accepted and then reset. This depends on the order in which the kernel closes the process's
/// sockets. client-go 0.18 resumes after a refusal and relists after a reset. Older releases relist after both, newer ones after
/// neither.
pub(crate) fn is_chance(fault: Fault, client: CacheClient) -> bool {
    let process_dies =
        matches!(fault, Fault::ServerKilled | Fault::ServerTerminated | Fault::WatchtapTerminated | Fault::WatchtapKilled);
    process_dies && matches!(client, CacheClient::Informer(ClientGo::V0_18_0 | ClientGo::V0_18, _))
}
