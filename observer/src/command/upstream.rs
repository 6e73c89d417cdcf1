//! From a kubeconfig's context to the upstream of a tap, and to the request for its version.

use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use observer_core::routing::{Basis, FromMetrics, ServerProfile, ServerVersion};
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::api_server::request::{self, Conversation, Question, QuestionError};
use crate::api_server::{
    ClientCertificate, Transport, UpstreamEndpoint, UpstreamFiles, UpstreamIdentity, UpstreamReading, UpstreamRoute, UpstreamTls,
    UpstreamTrust,
};
use crate::credential::{PluginCredential, run_plugin};
use crate::forward_proxy::{ForwardProxy, ProxyEnvironment};
use crate::intake::Intake;
use crate::kubeconfig::{self, BearerToken, CaSource, ExecPlugin, Selected};
use crate::pki::PrivateAuthority;
use crate::printable::print_message;
use crate::tap::Clock;
use crate::tap::proxy::{Admission, Descriptors, Entrance, ProxyConfig};

/// Longest time until a person learns which cluster is used.
const ANSWERS_WITHIN: Duration = Duration::from_secs(3);
/// Time limit for the metrics page, connecting included. Large servers take seconds to write it while a user waits, so its facts
/// are better assumed then.
const PAGE_WITHIN: Duration = Duration::from_secs(1);
/// Longest token file that is read, in bytes.
const MAX_TOKEN: u64 = 64 * 1024;

/// A listener on `listen` in front of a context's API server. If the user has a client certificate, the tap presents it upstream,
/// so `admission` must not be `Anybody` then.
pub(super) fn proxy_config(
    selected: &Selected,
    authority: Arc<PrivateAuthority>,
    admission: Admission,
    listen: SocketAddr,
    intake: Intake,
    clock: Clock,
    descriptors: Descriptors,
) -> Result<ProxyConfig> {
    Ok(ProxyConfig {
        listen,
        upstream: endpoint(selected),
        forward_proxy: forward_proxy(selected)?,
        upstream_tls: upstream_tls(selected, certificate(selected).as_ref())?,
        upstream_files: upstream_files(selected)?,
        authority,
        entrance: Entrance::Server,
        admission,
        intake: Some(intake),
        clock,
        handshake_limit: ProxyConfig::HANDSHAKE_LIMIT,
        descriptors,
    })
}

/// Asks the API server for its version, first without credentials and then with the kubeconfig's static ones. With `metrics`, it
/// also asks for metrics with those credentials. An unknown version is reported, since it makes all verdicts unknown. Users often
/// may not read metrics, so that failure is only logged.
pub(super) async fn learn(selected: &Selected, metrics: bool) -> ServerProfile {
    let (selected, credentials) = &reread(selected).await;
    let for_metrics = credentials.as_ref().filter(|_| metrics);
    let metrics = for_metrics.is_some();
    let what = if metrics { "/version and /metrics (requests of ours" } else { "/version (one request of ours" };
    print_message(format!("asking {} for {what}, not in the report)", endpoint(selected)));
    let page = async {
        let found = timeout(PAGE_WITHIN, Box::pin(ask_metrics(selected, for_metrics?))).await;
        Some(found.unwrap_or_else(|_elapsed| Err(QuestionError::TimedOut.into())))
    };
    let (version, found) = tokio::join!(ask_version(selected, credentials.as_ref()), page);
    let mut profile = version_profile(version);
    match found {
        Some(Ok(found)) => found.add_to(&mut profile),
        Some(Err(error)) => tracing::debug!(%error, "gates and caches are taken to be the defaults"),
        None => {}
    }
    profile
}

/// The context with the current contents of its certificate files, since the last reading may be hours old, and its credentials.
/// If the certificates cannot be read, the old contents stay. If reading takes more than 1 s, there are no credentials.
async fn reread(selected: &Selected) -> (Selected, Option<Credentials>) {
    const READ_WITHIN: Duration = Duration::from_secs(1);
    let named = selected.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let selected = named.reread().unwrap_or(named);
        let credentials = Credentials::of(&selected);
        (selected, credentials)
    });
    match timeout(READ_WITHIN, reading).await {
        Ok(Ok(read)) => read,
        Ok(Err(_)) | Err(_) => (selected.clone(), None),
    }
}

fn version_profile(asked: Result<String>) -> ServerProfile {
    match asked {
        Ok(version) => match version.parse::<ServerVersion>() {
            Ok(parsed) => return ServerProfile::of_version(parsed, Basis::VersionEndpoint),
            Err(error) => {
                print_message(format!("the API server says that its version is `{version}`: {error}; give --server-version"));
            }
        },
        Err(error) => {
            print_message(format!(
                "the API server's version is not known: {error}; give --server-version, or every verdict is unknown"
            ));
        }
    }
    ServerProfile::default()
}

/// Fails with the reason if the API server does not answer. A refusal is an answer.
pub(super) async fn check_answers(selected: &Selected) -> Result<()> {
    let (selected, credentials) = &reread(selected).await;
    match timeout(ANSWERS_WITHIN, ask_version(selected, credentials.as_ref())).await {
        Ok(Ok(_version)) => Ok(()),
        Ok(Err(error)) if matches!(error.downcast_ref(), Some(QuestionError::Status { .. })) => Ok(()),
        Ok(Err(error)) => Err(error),
        Err(_elapsed) => bail!("no answer within {} s", ANSWERS_WITHIN.as_secs()),
    }
}

async fn ask_version(selected: &Selected, credentials: Option<&Credentials>) -> Result<String> {
    let denied = match ask_version_as(selected, None, None).await {
        Ok(version) => return Ok(version),
        Err(denied) => denied,
    };
    let is_denied =
        matches!(denied.downcast_ref(), Some(QuestionError::Status { status, .. }) if matches!(status.as_u16(), 401 | 403));
    match credentials.filter(|_| is_denied) {
        Some(credentials) => ask_version_as(selected, credentials.certificate.as_ref(), credentials.token.as_deref()).await,
        None => Err(denied),
    }
}

async fn ask_version_as(selected: &Selected, certificate: Option<&ClientCertificate>, token: Option<&str>) -> Result<String> {
    let (stream, host) = connect(selected, certificate).await?;
    Ok(question(selected, &host, token).version(stream).await?)
}

async fn ask_metrics(selected: &Selected, credentials: &Credentials) -> Result<FromMetrics> {
    let (stream, host) = connect(selected, credentials.certificate.as_ref()).await?;
    Ok(question(selected, &host, credentials.token.as_deref()).metrics(stream).await?)
}

/// Connections for our own requests, as the kubeconfig's user. They use the current credentials of the kubeconfig and its files,
/// otherwise those of its plug-in, which is called once.
pub(super) struct Conversations {
    selected: Selected,
    of_plugin: OnceCell<Credentials>,
}

impl Conversations {
    /// For the API server of a context.
    pub(super) fn with(selected: Selected) -> Self {
        Self { selected, of_plugin: OnceCell::new() }
    }

    /// Opens a further connection.
    pub(super) async fn open(&self) -> Result<Conversation> {
        let selected = self.selected.reread()?;
        let held = Credentials::read(&selected)?;
        let credentials = match (&held, &selected.exec_plugin) {
            (None, Some(plugin)) => Some(self.of_plugin.get_or_try_init(|| ask_plugin(plugin)).await?),
            (held, _) => held.as_ref(),
        };
        let certificate = credentials.and_then(|credentials| credentials.certificate.as_ref());
        let (stream, host) = connect(&selected, certificate).await?;
        let token = credentials.and_then(|credentials| credentials.token.as_deref());
        Ok(question(&selected, &host, token).open(stream).await?)
    }
}

async fn ask_plugin(plugin: &ExecPlugin) -> Result<Credentials> {
    Ok(Credentials::from(run_plugin(plugin).await?))
}

/// Credentials of a kubeconfig's user that we can present without a plug-in.
struct Credentials {
    certificate: Option<ClientCertificate>,
    token: Option<String>,
}

impl Credentials {
    /// `None` if there are none, or they cannot be read.
    fn of(selected: &Selected) -> Option<Self> {
        let (certificate, token) = (certificate(selected), token(selected).ok().flatten());
        Self::with(certificate, token)
    }

    /// `None` if there are none.
    fn read(selected: &Selected) -> Result<Option<Self>> {
        Ok(Self::with(certificate(selected), token(selected)?))
    }

    fn with(certificate: Option<ClientCertificate>, token: Option<String>) -> Option<Self> {
        (certificate.is_some() || token.is_some()).then_some(Self { certificate, token })
    }
}

impl From<PluginCredential> for Credentials {
    fn from(credential: PluginCredential) -> Self {
        let certificate = credential
            .certificate
            .map(|(chain, key)| ClientCertificate { chain_pem: chain.into_bytes(), key_pem: key.into_bytes() });
        Self { certificate, token: credential.token }
    }
}

fn question<'q>(selected: &'q Selected, host: &'q str, token: Option<&'q str>) -> Question<'q> {
    Question { host, path_prefix: &selected.upstream.path_prefix, token }
}

/// A connection of ours, and the name of its server.
async fn connect(selected: &Selected, certificate: Option<&ClientCertificate>) -> Result<(TlsStream<Transport>, String)> {
    let tls = upstream_tls(selected, certificate)?;
    let route = UpstreamRoute::new(endpoint(selected), forward_proxy(selected)?, &tls);
    let transport = route.connect(request::LIMIT).await.map_err(|error| QuestionError::Connect(error.to_string()))?;
    let stream = timeout(request::LIMIT, TlsConnector::from(tls.client_config()).connect(tls.server_name(), transport))
        .await
        .map_err(|_elapsed| QuestionError::TimedOut)?
        .map_err(|error| QuestionError::Connect(error.to_string()))?;
    Ok((stream, route.endpoint().to_string()))
}

fn endpoint(selected: &Selected) -> UpstreamEndpoint {
    UpstreamEndpoint { host: selected.upstream.host.clone(), port: selected.upstream.port }
}

/// The cluster's `proxy-url`, otherwise the proxy in our environment, which is the client's too.
pub(super) fn forward_proxy(selected: &Selected) -> Result<Option<ForwardProxy>> {
    if selected.forward_proxy.is_some() {
        return Ok(selected.forward_proxy.clone());
    }
    let environment = ProxyEnvironment::read(|name| std::env::var_os(name));
    environment.forward_proxy(&selected.upstream.host, selected.upstream.port).context("HTTPS_PROXY")
}

fn upstream_tls(selected: &Selected, certificate: Option<&ClientCertificate>) -> Result<UpstreamTls> {
    let trust = trust(selected, &selected.ca)?;
    let upstream = &selected.upstream;
    let name = upstream.tls_server_name.as_deref().unwrap_or(&upstream.host);
    UpstreamTls::new(&trust, name, certificate).with_context(|| format!("cluster `{}`", selected.cluster))
}

fn trust(selected: &Selected, ca: &CaSource) -> Result<UpstreamTrust> {
    Ok(match (selected.insecure_skip_tls_verify, ca.pem()) {
        (true, Some(_)) => bail!(
            "cluster `{}` has both a certificate authority and insecure-skip-tls-verify, which kubectl refuses; remove one of them",
            selected.cluster
        ),
        (true, None) => UpstreamTrust::Anybody,
        (false, Some(pem)) => UpstreamTrust::Authorities(pem.to_vec()),
        (false, None) => UpstreamTrust::Native,
    })
}

/// `None` if the kubeconfig itself holds all of its certificates.
fn upstream_files(selected: &Selected) -> Result<Option<UpstreamFiles>> {
    if !selected.names_tls_files() {
        return Ok(None);
    }
    let held = UpstreamIdentity { trust: trust(selected, &selected.ca)?, certificate: certificate(selected) };
    let named = selected.clone();
    let read = move || UpstreamReading {
        trust: named.reread_ca().map_err(Into::into).and_then(|ca| Ok(trust(&named, &ca)?)),
        certificate: named.reread_client_certificate().map(|held| held.as_ref().map(presented)).map_err(Into::into),
    };
    Ok(Some(UpstreamFiles::new(held, read)))
}

fn certificate(selected: &Selected) -> Option<ClientCertificate> {
    selected.client_certificate.as_ref().map(presented)
}

fn presented(held: &kubeconfig::ClientCertificate) -> ClientCertificate {
    ClientCertificate { chain_pem: held.certificate_pem.clone(), key_pem: held.key_pem.expose().to_vec() }
}

fn token(selected: &Selected) -> Result<Option<String>> {
    let bytes = match &selected.bearer_token {
        BearerToken::None => return Ok(None),
        BearerToken::Inline(token) => token.expose().to_vec(),
        BearerToken::File(path) => {
            let mut token = Vec::new();
            let read = File::open(path).and_then(|file| file.take(MAX_TOKEN).read_to_end(&mut token));
            read.with_context(|| format!("cannot read the token of the kubeconfig's user, {}", path.display()))?;
            token
        }
    };
    Ok(String::from_utf8(bytes).ok().map(|token| token.trim().to_owned()))
}

/// The name of an API server in reports: `HOST:PORT`, the path in front of its API, the name in its certificate if that differs,
/// and the forward proxy. Behind another proxy, the same address may be another server, as with tunnels to `127.0.0.1`. Equal names
/// mean the same server.
pub(super) fn name(selected: &Selected) -> String {
    // If the proxy's address cannot be read, no listener leads to this server.
    name_behind(selected, forward_proxy(selected).ok().flatten().as_ref())
}

pub(super) fn name_behind(selected: &Selected, proxy: Option<&ForwardProxy>) -> String {
    let upstream = &selected.upstream;
    let address = endpoint(selected).to_string() + upstream.path_prefix.trim_end_matches('/');
    let server = match &upstream.tls_server_name {
        Some(server_name) => format!("{address} ({server_name})"),
        None => address,
    };
    match proxy {
        Some(proxy) => format!("{server} via {proxy}"),
        None => server,
    }
}
