//! The configuration of nginx, haproxy and stunnel: TLS on both sides, verification of the server certificate, and two threads or
//! workers, as in watchtap. Everything else has its default.

use std::path::Path;

use crate::credentials::Credentials;

/// The ports of a peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ports {
    pub(super) listen: u16,
    /// Port between stunnel's two services.
    pub(super) between: u16,
    pub(super) upstream: u16,
}

/// nginx as a TCP proxy (`ngx_stream_ssl_module`, `ngx_stream_proxy_module`). Debian ships `stream` as a dynamic module.
pub(super) fn nginx(ports: Ports, credentials: &Credentials, folder: &Path) -> String {
    const MODULE: &str = "/usr/lib/nginx/modules/ngx_stream_module.so";
    let module = if Path::new(MODULE).exists() { format!("load_module {MODULE};\n") } else { String::new() };
    let Ports { listen, upstream, .. } = ports;
    let (certificate, key, authority) = paths(credentials);
    let folder = folder.display();
    format!(
        "{module}daemon off;
worker_processes 2;
pid {folder}/nginx.pid;
error_log stderr error;
events {{ worker_connections 4096; }}
stream {{
  server {{
    listen 127.0.0.1:{listen} ssl;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    ssl_protocols TLSv1.3;
    proxy_pass 127.0.0.1:{upstream};
    proxy_timeout 1h;
    proxy_ssl on;
    proxy_ssl_protocols TLSv1.3;
    proxy_ssl_verify on;
    proxy_ssl_trusted_certificate {authority};
    proxy_ssl_name localhost;
  }}
}}
"
    )
}

/// haproxy as a TCP proxy.
pub(super) fn haproxy(ports: Ports, credentials: &Credentials) -> String {
    let Ports { listen, upstream, .. } = ports;
    let (_, _, authority) = paths(credentials);
    let bundle = credentials.bundle.display();
    format!(
        "global
  nbthread 2
  maxconn 4096
defaults
  mode tcp
  timeout connect 10s
  timeout client 1h
  timeout server 1h
frontend clients
  bind 127.0.0.1:{listen} ssl crt {bundle}
  default_backend api
backend api
  server api 127.0.0.1:{upstream} ssl verify required ca-file {authority} verifyhost localhost
"
    )
}

/// stunnel, which has no service with TLS on both sides: one service terminates TLS, one starts it, in one process.
pub(super) fn stunnel(ports: Ports, credentials: &Credentials) -> String {
    let Ports { listen, between, upstream } = ports;
    let (certificate, key, authority) = paths(credentials);
    format!(
        "foreground = yes
pid =
debug = 3
socket = l:TCP_NODELAY=1
socket = r:TCP_NODELAY=1
[end]
accept = 127.0.0.1:{listen}
connect = 127.0.0.1:{between}
cert = {certificate}
key = {key}
[begin]
client = yes
accept = 127.0.0.1:{between}
connect = 127.0.0.1:{upstream}
CAfile = {authority}
verifyChain = yes
checkHost = localhost
"
    )
}

fn paths(credentials: &Credentials) -> (String, String, String) {
    let text = |path: &Path| path.display().to_string();
    (text(&credentials.certificate), text(&credentials.key), text(&credentials.authority))
}
