//! The client of a request, as every view names it.

use observer_core::exchange::Client;

/// The program of a client: the first word of its `User-Agent`. By default, client-go sends a file name with a version, and then
/// the platform.
pub(super) fn program(client: &Client) -> String {
    let program = if client.program.is_empty() { "unnamed client" } else { &client.program };
    program.to_owned()
}
