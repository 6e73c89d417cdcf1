//! Reads the EndpointSlice with one GET, as the pod's service account.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use hyper::StatusCode;
use tokio::time::timeout;

use super::document;
use super::error::SliceError;
use crate::api_server::ServiceInPod;
use crate::api_server::request::{Conversations, QuestionError};
use crate::error_chain;

/// The EndpointSlice that the API servers of a cluster keep (kubernetes/kubernetes `pkg/controlplane/reconcilers`, v1.34). This is one
/// object by its name, so neither a list nor a watch.
const PATH: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
/// Maximum size of the answer in bytes. An endpoint takes some 200.
const LARGEST: usize = 1 << 20;
/// Time limit for connecting and for the answer.
const WITHIN: Duration = Duration::from_secs(15);

/// Reads the EndpointSlice of the cluster that watchtap runs in.
#[derive(Clone, Debug)]
pub(crate) struct EndpointSliceReader {
    service: ServiceInPod,
    pub(super) within: Duration,
}

impl EndpointSliceReader {
    /// The EndpointSlice in the cluster of this Service.
    pub(crate) const fn of(service: ServiceInPod) -> Self {
        Self { service, within: WITHIN }
    }

    /// The addresses of the API servers, by one request on a connection of its own.
    pub(crate) async fn read(&self) -> Result<BTreeSet<SocketAddr>, SliceError> {
        let selected = self.service.as_service_account();
        let selected = selected.map_err(|error| SliceError::NoCredential(error_chain::in_words(error.as_ref())))?;
        let asked = async {
            let conversations = Conversations::with(selected);
            let mut conversation = conversations.open().await.map_err(|error| match error.downcast::<QuestionError>() {
                Ok(error) => SliceError::Question(error),
                Err(error) => SliceError::NoCredential(error_chain::in_words(error.as_ref())),
            })?;
            Ok::<_, SliceError>(conversation.read(PATH, LARGEST).await?)
        };
        let answer = timeout(self.within, asked).await.unwrap_or(Err(QuestionError::TimedOut.into()))?;
        match answer.status {
            StatusCode::OK => document::addresses(&answer.body).ok_or(SliceError::NotASlice),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(SliceError::Denied(answer.status)),
            StatusCode::NOT_FOUND => Err(SliceError::NotFound),
            status => Err(SliceError::Status(status)),
        }
    }
}
