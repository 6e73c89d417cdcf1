//! The CONNECT request of a client that uses the listener as its forward proxy (`proxy-url` in its kubeconfig).
//!
//! A listener connects to one API server only. It answers the CONNECT only after the API server has accepted its connection. So a
//! client gets no answer while the API server refuses. A client that requests another target is disconnected without an answer.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::establish::Failure;
use super::shared::Shared;
use super::socket;
use crate::api_server::{UpstreamEndpoint, read_head};

const CONNECTED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// Reads the request. Returns the client if it requests the listener's API server.
pub(super) async fn receive(shared: &Shared, mut client: TcpStream, deadline: Instant) -> Result<TcpStream, Failure> {
    let head = tokio::select! {
        biased;
        head = timeout_at(deadline, read_head(&mut client)) => head,
        () = shared.gate.held() => return Err(Failure::Held(client)),
    };
    let Ok(Ok(head)) = head else { return Err(Failure::Client) };
    if asks_for(&head, shared.route.endpoint()) {
        return Ok(client);
    }
    socket::close_gracefully(&client);
    Err(Failure::Elsewhere)
}

/// Confirms that the tunnel is open.
pub(super) async fn grant(client: &mut TcpStream) -> Result<(), Failure> {
    client.write_all(CONNECTED).await.map_err(|_client_is_gone| Failure::Client)
}

fn asks_for(head: &[u8], endpoint: &UpstreamEndpoint) -> bool {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let [method, target, version] = words[..] else { return false };
    method == b"CONNECT" && version.starts_with(b"HTTP/1.") && target.eq_ignore_ascii_case(endpoint.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connect_is_accepted_only_for_its_api_server() {
        let endpoint = UpstreamEndpoint { host: "api.example".to_owned(), port: 443 };
        for (head, expected) in [
            ("CONNECT api.example:443 HTTP/1.1\r\nHost: api.example:443\r\n\r\n", true),
            ("CONNECT API.example:443 HTTP/1.0\r\n\r\n", true),
            ("CONNECT api.example:80 HTTP/1.1\r\n\r\n", false),
            ("CONNECT other.example:443 HTTP/1.1\r\n\r\n", false),
            ("GET api.example:443 HTTP/1.1\r\n\r\n", false),
            ("CONNECT api.example:443\r\n\r\n", false),
            ("\r\n\r\n", false),
        ] {
            assert_eq!(asks_for(head.as_bytes(), &endpoint), expected, "{head:?}");
        }
    }
}
