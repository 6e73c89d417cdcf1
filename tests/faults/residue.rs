//! The cells in which clients may behave differently behind watchtap, with reasons.

use observer_tests::{CacheClient, ClientGo};

use super::fault::Fault;

/// The cells that cannot be equal, each with its reason.
///
/// watchtap cannot mirror two things at the level of connections. If upstream disappears while a client is idle, the client's first
/// dial is reset and not refused. And if upstream does not answer a SYN, watchtap has already accepted the client. The clients of
/// this matrix have open watches, so the first case does not occur; its silences begin above TCP, like those of a hanging server.
/// So there are no residues.
const RESIDUES: &[(Fault, CacheClient, &str)] = &[];

/// The reason why this cell may differ, or `None` if it may not.
pub(crate) fn residue(fault: Fault, client: CacheClient) -> Option<&'static str> {
    RESIDUES.iter().find(|(of, with, _)| (*of, *with) == (fault, client)).map(|(_, _, reason)| *reason)
}

/// Whether chance decides this client's behaviour, on either route. When a listening process dies, a client that dials immediately
/// is refused, or still accepted and reset: it depends on the order in which the kernel closes the process's sockets. client-go
/// 0.18 resumes after a refusal and relists after a reset. Older releases relist after both, newer ones after neither.
pub(crate) fn is_chance(fault: Fault, client: CacheClient) -> bool {
    let process_dies =
        matches!(fault, Fault::ServerKilled | Fault::ServerTerminated | Fault::WatchtapTerminated | Fault::WatchtapKilled);
    process_dies && matches!(client, CacheClient::Informer(ClientGo::V0_18_0 | ClientGo::V0_18, _))
}
