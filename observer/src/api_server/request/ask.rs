//! Connects to the API server of a kubeconfig's context, and sends watchtap's own requests as that context's user.

use std::time::Duration;

use anyhow::{Result, bail};
use observer_core::routing::FromMetrics;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{Conversation, LIMIT, Question, QuestionError};
use crate::api_server::credentials::{Credentials, reread};
use crate::api_server::endpoint::{endpoint, forward_proxy};
use crate::api_server::tls::upstream_tls;
use crate::api_server::{ClientCertificate, Transport, UpstreamRoute};
use crate::exec_plugin::run_plugin;
use crate::kubeconfig::{ExecPlugin, Selected};

/// Time limit for the API server's answer. It is short, because a user waits to see which cluster is used.
const ANSWERS_WITHIN: Duration = Duration::from_secs(3);

/// Checks that the API server answers. The error is the reason if it does not. A refusal is an answer.
pub(crate) async fn check_answers(selected: &Selected) -> Result<()> {
    let (selected, credentials) = &reread(selected).await;
    match timeout(ANSWERS_WITHIN, ask_version(selected, credentials.as_ref())).await {
        Ok(Ok(_version)) => Ok(()),
        Ok(Err(error)) if matches!(error.downcast_ref(), Some(QuestionError::Status { .. })) => Ok(()),
        Ok(Err(error)) => Err(error),
        Err(_elapsed) => bail!("no answer within {} s", ANSWERS_WITHIN.as_secs()),
    }
}

/// Requests the server's `gitVersion` without credentials. If that is denied, requests it again with `credentials`.
pub(in crate::api_server) async fn ask_version(selected: &Selected, credentials: Option<&Credentials>) -> Result<String> {
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

/// The facts about the server's configuration on its page of metrics.
pub(in crate::api_server) async fn ask_metrics(selected: &Selected, credentials: &Credentials) -> Result<FromMetrics> {
    let (stream, host) = connect(selected, credentials.certificate.as_ref()).await?;
    Ok(question(selected, &host, credentials.token.as_deref()).metrics(stream).await?)
}

/// Connections for our own requests, as the kubeconfig's user. They use the current credentials of the kubeconfig and its files,
/// otherwise those of its plugin, which is called once.
pub(crate) struct Conversations {
    selected: Selected,
    of_plugin: OnceCell<Credentials>,
}

impl Conversations {
    /// Connections to the API server of a context, as its user.
    pub(crate) fn with(selected: Selected) -> Self {
        Self { selected, of_plugin: OnceCell::new() }
    }

    /// Opens a further connection.
    pub(crate) async fn open(&self) -> Result<Conversation> {
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

fn question<'q>(selected: &'q Selected, host: &'q str, token: Option<&'q str>) -> Question<'q> {
    Question { host, path_prefix: &selected.upstream.path_prefix, token }
}

/// Opens a connection for our own requests. Returns it with the server's name, for the `Host` field.
async fn connect(selected: &Selected, certificate: Option<&ClientCertificate>) -> Result<(TlsStream<Transport>, String)> {
    let tls = upstream_tls(selected, certificate)?;
    let route = UpstreamRoute::new(endpoint(selected), forward_proxy(selected)?, &tls);
    let transport = route.connect(LIMIT).await.map_err(|error| QuestionError::Connect(error.to_string()))?;
    let stream = timeout(LIMIT, TlsConnector::from(tls.client_config()).connect(tls.server_name(), transport))
        .await
        .map_err(|_elapsed| QuestionError::TimedOut)?
        .map_err(|error| QuestionError::Connect(error.to_string()))?;
    Ok((stream, route.endpoint().to_string()))
}
