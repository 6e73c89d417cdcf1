//! The CONNECT exchange with a forward proxy (RFC 9110 §9.3.6, RFC 9112 §3.2.3).
//!
//! The exchange is complete before the first byte of a client is sent upstream. It is unrelated to the HTTP of clients, which the
//! proxy does not process. The body of a refusal is ignored.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use super::transport::Transport;
use crate::api_server::{ForwardProxyFault, UpstreamEndpoint};
use crate::forward_proxy::Credentials;

/// Maximum size of the head of an answer, in bytes.
const MAX_HEAD: usize = 16 * 1024;
/// Maximum number of characters kept of a reason.
const MAX_REASON: usize = 80;
const PROXY_AUTHENTICATION_REQUIRED: u16 = 407;
const GARBLED: ForwardProxyFault = ForwardProxyFault::Garbled { protocol: "HTTP" };

/// Asks for a tunnel to `target`.
pub(super) async fn connect(
    mut transport: Transport,
    target: &UpstreamEndpoint,
    credentials: Option<&Credentials>,
) -> Result<Transport, ForwardProxyFault> {
    let sent = transport.write_all(request(target, credentials).as_bytes()).await;
    // A proxy may answer and close before it has read the complete request. Its answer is a better explanation than the failed
    // write.
    if sent.is_ok() {
        transport.flush().await.ok();
    }
    let head = read_head(&mut transport).await?;
    let (status, reason) = status(&head).ok_or(GARBLED)?;
    let answer = format!("{status} {reason}").trim_end().to_owned();
    match status {
        200..=299 => Ok(transport),
        PROXY_AUTHENTICATION_REQUIRED => Err(ForwardProxyFault::Authentication { answer }),
        _ => Err(ForwardProxyFault::Denied { answer }),
    }
}

fn request(target: &UpstreamEndpoint, credentials: Option<&Credentials>) -> String {
    let authorization = credentials.map_or_else(String::new, |credentials| {
        let pair = STANDARD.encode(format!("{}:{}", credentials.username, credentials.password));
        format!("Proxy-Authorization: Basic {pair}\r\n")
    });
    let agent = concat!("watchtap/", env!("CARGO_PKG_VERSION"));
    format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\nUser-Agent: {agent}\r\n{authorization}\r\n")
}

/// Reads up to the empty line, and no further: later bytes belong to the tunnel.
pub(crate) async fn read_head(transport: &mut (impl AsyncRead + Unpin)) -> Result<Vec<u8>, ForwardProxyFault> {
    let mut head = Vec::new();
    while !(head.ends_with(b"\r\n\r\n") || head.ends_with(b"\n\n")) {
        if head.len() == MAX_HEAD {
            return Err(GARBLED);
        }
        head.push(transport.read_u8().await.map_err(|_ended| ForwardProxyFault::Closed)?);
    }
    Ok(head)
}

/// Parses the status line into the status code and the reason, without its control characters.
fn status(head: &[u8]) -> Option<(u16, String)> {
    let line = head.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let (version, rest) = line.trim_end().split_once(' ')?;
    if !version.starts_with("HTTP/1.") {
        return None;
    }
    let (digits, reason) = rest.split_once(' ').unwrap_or((rest, ""));
    let status = digits.parse().ok().filter(|status| (100..=999).contains(status))?;
    Some((status, reason.chars().filter(|character| !character.is_control()).take(MAX_REASON).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connect_request_brackets_ipv6_and_carries_credentials() {
        let target = UpstreamEndpoint { host: "2001:db8::1".to_owned(), port: 6443 };
        let credentials = Credentials { username: "me".to_owned(), password: "pass:word".to_owned() };
        let text = request(&target, Some(&credentials));
        assert!(text.starts_with("CONNECT [2001:db8::1]:6443 HTTP/1.1\r\nHost: [2001:db8::1]:6443\r\n"), "{text}");
        assert!(text.ends_with("\r\nProxy-Authorization: Basic bWU6cGFzczp3b3Jk\r\n\r\n"), "{text}");
        assert!(!request(&target, None).contains("Authorization"));
    }

    #[test]
    fn connect_status_lines_of_every_form_are_parsed() {
        let read = |head: &str| status(head.as_bytes());
        assert_eq!(read("HTTP/1.1 200 Connection established\r\n\r\n"), Some((200, "Connection established".to_owned())));
        assert_eq!(read("HTTP/1.0 407\r\nX: y\r\n\r\n"), Some((407, String::new())));
        assert_eq!(read("HTTP/1.1 503 no\u{1b}[31m way\n\n"), Some((503, "no[31m way".to_owned())));
        assert_eq!(read(&format!("HTTP/1.1 503 {}\r\n\r\n", "x".repeat(1000))).map(|(_, reason)| reason.len()), Some(MAX_REASON));
        for garbled in
            ["", "\r\n\r\n", "SSH-2.0-OpenSSH\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 OK\r\n\r\n", "HTTP/1.1 20\r\n\r\n"]
        {
            assert_eq!(read(garbled), None, "{garbled:?}");
        }
    }
}
