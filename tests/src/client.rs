//! Sends a test's requests to the API server without changes: HTTP/1.1, blocking. It adds only `Host`, the body's length, a token
//! and a default `User-Agent`. It follows no redirect, inflates nothing and never retries.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use http::{HeaderMap, Method, Request, Uri, header};
use rustls::crypto::aws_lc_rs;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};
use ureq::{Agent, Proxy};

use crate::credentials::Identity;

/// The limit of any request, so that a server stopped with SIGSTOP cannot block a test forever.
const LIMIT: Duration = Duration::from_mins(2);

/// One identity on one API server. Cheap to clone; it stays usable while the server is down.
#[derive(Clone, Debug)]
pub struct Client {
    agent: Agent,
    server: String,
    token: Option<Arc<str>>,
}

/// A complete response.
#[derive(Clone, Debug)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Header fields as received.
    pub headers: HeaderMap,
    /// The body with its chunks joined. It stays compressed if the request allowed compression.
    pub body: Vec<u8>,
}

impl Response {
    /// Parses the body as JSON.
    pub fn json(&self) -> Result<serde_json::Value> {
        serde_json::from_slice(&self.body).with_context(|| format!("not JSON: {}", self.text()))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Fails with the server's message unless the status is 2xx.
    pub fn success(self) -> Result<Self> {
        anyhow::ensure!((200..300).contains(&self.status), "the API server said {}: {}", self.status, self.text());
        Ok(self)
    }
}

/// Whether a connection serves more than one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connections {
    /// One connection per request, for tests that count connections or restart the server.
    PerRequest,
    /// Keeps the connection for the next request.
    Kept,
}

impl Client {
    /// A client of any API server, with one connection per request.
    pub fn of_server(server: &str, authority: &str, token: &str) -> Result<Self> {
        Self::with_token(server, authority, token, Connections::PerRequest)
    }

    pub(crate) fn with_token(server: &str, authority: &str, token: &str, connections: Connections) -> Result<Self> {
        let agent = agent(Some(authority), None, connections)?;
        Ok(Self { agent, server: server.to_owned(), token: Some(Arc::from(token)) })
    }

    pub(crate) fn with_certificate(server: &str, authority: &str, identity: &Identity, connections: Connections) -> Result<Self> {
        let agent = agent(Some(authority), Some(identity), connections)?;
        Ok(Self { agent, server: server.to_owned(), token: None })
    }

    /// Without TLS and credentials, for etcd.
    pub(crate) fn plain(server: &str) -> Result<Self> {
        Ok(Self { agent: agent(None, None, Connections::PerRequest)?, server: server.to_owned(), token: None })
    }

    /// Sends one request and reads the complete response, whatever its status.
    ///
    /// `path_and_query` is sent unchanged. An empty `body` means no body. An `Authorization` field in `headers` replaces the token.
    pub fn raw(&self, method: &str, path_and_query: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Response> {
        let uri: Uri = format!("{}{path_and_query}", self.server).parse()?;
        let mut request = Request::builder().method(method.parse::<Method>()?).uri(uri);
        let brings_identity = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        if let Some(token) = self.token.as_ref().filter(|_| !brings_identity) {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = if body.is_empty() { self.agent.run(request.body(())?) } else { self.agent.run(request.body(body)?) };
        let (parts, mut body) = response.with_context(|| format!("{method} {path_and_query}"))?.into_parts();
        let body = body.with_config().read_to_vec().with_context(|| format!("body of {method} {path_and_query}"))?;
        Ok(Response { status: parts.status.as_u16(), headers: parts.headers, body })
    }

    /// Sends a GET and fails unless the status is 2xx.
    pub fn get(&self, path_and_query: &str) -> Result<Response> {
        self.raw("GET", path_and_query, &[], b"")?.success()
    }

    /// Sends a POST with a JSON object; accepts any status.
    pub fn post(&self, path_and_query: &str, object: &serde_json::Value) -> Result<Response> {
        let headers = [("Content-Type", "application/json")];
        self.raw("POST", path_and_query, &headers, object.to_string().as_bytes())
    }
}

fn agent(authority: Option<&str>, identity: Option<&Identity>, connections: Connections) -> Result<Agent> {
    let mut tls = TlsConfig::builder().unversioned_rustls_crypto_provider(Arc::new(aws_lc_rs::default_provider()));
    if let Some(authority) = authority {
        tls = tls.root_certs(RootCerts::new_with_certs(&[Certificate::from_pem(authority.as_bytes())?]));
    }
    if let Some(identity) = identity {
        let chain = [Certificate::from_pem(identity.certificate.as_bytes())?];
        let key = PrivateKey::from_pem(identity.key.as_bytes())?;
        tls = tls.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
    }
    let config = Agent::config_builder()
        .tls_config(tls.build())
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None::<Proxy>)
        .user_agent("watchtap-tests")
        .accept("")
        .timeout_global(Some(LIMIT))
        .max_idle_connections(match connections {
            Connections::PerRequest => 0,
            Connections::Kept => 1,
        });
    Ok(config.build().new_agent())
}
