//! The four requests of a check, and the meaning of their answers.

use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::RETRY_AFTER;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tokio::time::timeout;

use super::PodAccess;
use super::authority::Authority;
use super::bundle::Bundle;
use super::failure::{Failure, Names, Refusal, Request};
use super::identity::Identity;
use super::objects::{SeenConfiguration, SeenSecret, Version, bundle_to_apply, secret_to_apply};
use crate::api_server::request::{Answer, Conversation, QuestionError};

/// Time limit for connecting, and for each answer. Other webhooks may delay a change.
const WITHIN: Duration = Duration::from_secs(15);
/// Maximum size of an answer in bytes. etcd takes objects of 1.5 MiB.
const LARGEST: usize = 4 << 20;
const APPLY: &str = "application/apply-patch+yaml";
/// The field manager of `caBundle`: the same for all replicas, because it is their common decision.
const OF_BUNDLE: &str = "watchtap-ca";
/// The longest pause that an API server can ask for.
const LONGEST_ASKED: Duration = Duration::from_mins(1);
/// All but letters, digits and the other characters of Kubernetes' names.
const IN_NAMES: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.');

/// Whether a change was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It was.
    Made,
    /// Another program has changed the object in between, or has created it.
    Conflict,
}

/// The requests of one check, on a connection of their own.
pub(super) struct Requests {
    conversation: Conversation,
    names: Arc<Names>,
    identity: Identity,
    /// How long the API server asked to wait.
    pub(super) asked: Option<Duration>,
}

impl Requests {
    /// Connects, with the current credential of the pod.
    pub(super) async fn open(access: &PodAccess, names: Arc<Names>) -> Result<Self, Failure> {
        let opened = timeout(WITHIN, access.open()).await.map_err(|_elapsed| QuestionError::TimedOut)?;
        let conversation = opened.map_err(|error| Failure::Unreachable(crate::error_chain::in_words(error.as_ref())))?;
        Ok(Self { conversation, names, identity: access.identity(), asked: None })
    }

    pub(super) async fn read_secret(&mut self) -> Result<SeenSecret, Failure> {
        let path = self.secret_path();
        let answer = self.read(&path).await?;
        match answer.status {
            StatusCode::OK => SeenSecret::parse(&answer.body).map_err(|_error| Failure::Malformed(format!("GET {path}"))),
            StatusCode::NOT_FOUND => Ok(SeenSecret::Absent),
            _ => Err(self.refused(Request::ReadSecret, &answer)),
        }
    }

    /// Stores an authority. Without a version, this fails if another replica has stored another one. With a version, the Secret has to
    /// have it.
    pub(super) async fn write_secret(&mut self, authority: &Authority, at: Option<&Version>) -> Result<Change, Failure> {
        let owner = self.identity.account.as_ref();
        let document = secret_to_apply(&self.names.secret(), &self.names.service, &authority.to_pem(), owner, at);
        let (path, manager) = (self.secret_path(), self.identity.field_manager());
        self.apply(Request::WriteSecret, &path, &manager, at.is_some(), &document).await
    }

    /// Reads the configuration; `None` if there is none.
    pub(super) async fn read_configuration(&mut self) -> Result<Option<SeenConfiguration>, Failure> {
        let path = self.configuration_path();
        let answer = self.read(&path).await?;
        match answer.status {
            StatusCode::OK => SeenConfiguration::parse(&answer.body, &self.names.service)
                .map(Some)
                .map_err(|_error| Failure::Malformed(format!("GET {path}"))),
            StatusCode::NOT_FOUND => Ok(None),
            _ => Err(self.refused(Request::ReadConfiguration, &answer)),
        }
    }

    pub(super) async fn write_bundle(&mut self, webhooks: &[String], bundle: &Bundle, at: &Version) -> Result<Change, Failure> {
        let document = bundle_to_apply(&self.names.configuration, webhooks, bundle, at);
        let path = self.configuration_path();
        self.apply(Request::WriteConfiguration, &path, OF_BUNDLE, true, &document).await
    }

    async fn read(&mut self, path: &str) -> Result<Answer, Failure> {
        let answer = timeout(WITHIN, self.conversation.read(path, LARGEST)).await;
        Ok(answer.map_err(|_elapsed| QuestionError::TimedOut)??)
    }

    async fn apply(
        &mut self,
        request: Request,
        path: &str,
        manager: &str,
        force: bool,
        document: &Value,
    ) -> Result<Change, Failure> {
        let path = format!("{path}?fieldManager={}&force={force}", segment(manager));
        let document = Bytes::from(document.to_string());
        let answer = timeout(WITHIN, self.conversation.patch(&path, APPLY, document, LARGEST)).await;
        let answer = answer.map_err(|_elapsed| QuestionError::TimedOut)??;
        match answer.status {
            status if status.is_success() => Ok(Change::Made),
            StatusCode::CONFLICT => Ok(Change::Conflict),
            _ => Err(self.refused(request, &answer)),
        }
    }

    fn refused(&mut self, request: Request, answer: &Answer) -> Failure {
        let seconds = answer.headers.get(RETRY_AFTER).and_then(|seconds| seconds.to_str().ok()?.parse().ok());
        self.asked = seconds.map(|seconds| Duration::from_secs(seconds).min(LONGEST_ASKED));
        Failure::Refused(Box::new(Refusal::of(request, &self.names, answer.status, &answer.body)))
    }

    fn secret_path(&self) -> String {
        format!("/api/v1/namespaces/{}/secrets/{}", self.names.service.namespace(), self.names.secret())
    }

    fn configuration_path(&self) -> String {
        let name = segment(&self.names.configuration);
        format!("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/{name}")
    }
}

fn segment(name: &str) -> String {
    utf8_percent_encode(name, IN_NAMES).to_string()
}
