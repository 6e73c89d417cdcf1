//! The SOCKS 5 exchange with a forward proxy (RFC 1928, RFC 1929).

use std::io;

use tokio_socks::Error;
use tokio_socks::tcp::Socks5Stream;

use super::transport::Transport;
use crate::api_server::{ForwardProxyFault, UpstreamEndpoint};
use crate::forward_proxy::Credentials;

/// Asks for a connection to `target`; the proxy resolves its name.
pub(super) async fn connect(
    transport: Transport,
    target: &UpstreamEndpoint,
    credentials: Option<&Credentials>,
) -> Result<Transport, ForwardProxyFault> {
    let address = (target.host.as_str(), target.port);
    let asked = match credentials {
        None => Socks5Stream::connect_with_socket(transport, address).await,
        Some(Credentials { username, password }) => {
            Socks5Stream::connect_with_password_and_socket(transport, address, username, password).await
        }
    };
    asked.map(Socks5Stream::into_inner).map_err(|error| fault(&error))
}

fn fault(error: &Error) -> ForwardProxyFault {
    let answer = error.to_string();
    match error {
        Error::Io(error) if is_end(error) => ForwardProxyFault::Closed,
        Error::InvalidResponseVersion | Error::InvalidReservedByte | Error::UnknownAddressType | Error::UnknownAuthMethod => {
            ForwardProxyFault::Garbled { protocol: "SOCKS 5" }
        }
        Error::NoAcceptableAuthMethods
        | Error::InvalidAuthValues(_)
        | Error::PasswordAuthFailure(_)
        | Error::AuthorizationRequired
        | Error::IdentdAuthFailure
        | Error::InvalidUserIdAuthFailure => ForwardProxyFault::Authentication { answer },
        Error::Io(_)
        | Error::ParseError(_)
        | Error::InvalidTargetAddress(_)
        | Error::ProxyServerUnreachable
        | Error::GeneralSocksServerFailure
        | Error::ConnectionNotAllowedByRuleset
        | Error::NetworkUnreachable
        | Error::HostUnreachable
        | Error::ConnectionRefused
        | Error::TtlExpired
        | Error::CommandNotSupported
        | Error::AddressTypeNotSupported
        | Error::UnknownError => ForwardProxyFault::Denied { answer: format!("\"{answer}\"") },
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}
