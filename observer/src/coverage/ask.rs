//! Asks the API server for the pods, and for the rules of admission. Each list is answered from the watch cache.

use anyhow::{Context, Result};

use super::admission::{Admission, Policy, WebhookConfiguration, policies, webhooks};
use super::document::list;
use super::pod::Pod;
use super::scope::Scope;
use super::summary::Coverage;
use crate::api_server::request::{Conversation, Conversations};
use crate::error_chain;

const WEBHOOKS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations?resourceVersion=0";

/// Stable since 1.36; earlier servers answer 404.
const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies?resourceVersion=0";

/// The pods in `scope` that request a sidecar. If the rules of admission cannot be read, the result has the reason.
pub(crate) async fn ask(conversations: &Conversations, scope: Scope) -> Result<Coverage> {
    let mut conversation = conversations.open().await?;
    let pods = list::<Pod>(&mut conversation, &scope.path()).await.with_context(|| {
        let remedy = if scope == Scope::AllNamespaces { " (name one namespace with --namespace)" } else { "" };
        format!("cannot list pods in {}{remedy}", scope.in_words())
    })?;
    let admission =
        rules(conversations, conversation).await.unwrap_or_else(|error| Admission::Unknown(error_chain::in_words(error.as_ref())));
    Ok(Coverage::of(scope, pods, admission))
}

async fn rules(conversations: &Conversations, mut conversation: Conversation) -> Result<Admission> {
    if !conversation.is_open().await {
        conversation = conversations.open().await?;
    }
    let mut rules = webhooks(list::<WebhookConfiguration>(&mut conversation, WEBHOOKS).await?);
    if !conversation.is_open().await {
        conversation = conversations.open().await?;
    }
    // A user who may read webhooks and not policies learns about the webhooks.
    match list::<Policy>(&mut conversation, POLICIES).await {
        Ok(found) => rules.extend(policies(found)),
        Err(error) if !error.is_unknown_kind() && rules.is_empty() => return Err(error.into()),
        Err(_unknown_or_denied) => {}
    }
    Ok(Admission::Known(rules))
}
