//! The client of a request, as every view names it.

use observer_core::exchange::Client;

/// The program of a client: the first word of its `User-Agent`. By default, client-go sends a file name with a version, and then
/// the platform. In a pod, the container is in front of it, as in `app:manager/v0.1`.
pub(super) fn program(client: &Client) -> String {
    let program = if client.program.is_empty() { "unnamed client" } else { &client.program };
    client.container_name.as_ref().map_or_else(|| program.to_owned(), |container| format!("{container}:{program}"))
}
