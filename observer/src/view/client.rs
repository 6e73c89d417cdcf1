//! The client of a request, as every view names it.

use observer_core::exchange::Client;

/// Its program, by the `User-Agent`: client-go's default is the file name and its version, followed by the platform in further words.
pub(super) fn program(client: &Client) -> String {
    let program = if client.program.is_empty() { "unnamed client" } else { &client.program };
    program.to_owned()
}
