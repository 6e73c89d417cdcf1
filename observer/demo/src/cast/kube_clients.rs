//! Clients with kube-rs that read: watchers, controllers, pollers, pagers.

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use futures_util::StreamExt as _;
use http::header::{HeaderValue, USER_AGENT};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::watcher::{self, watcher};
use serde_json::Value;
use tokio::time::sleep;

use crate::api::Resource;
use crate::identity::service_account_token;

/// A client with a connection of its own.
pub(super) async fn client(kubeconfig: &Path, name: &str) -> Result<Client> {
    let text = std::fs::read(kubeconfig).context("cannot read the demo's kubeconfig")?;
    let mut document: Value = serde_json::from_slice(&text).context("the demo's kubeconfig is no JSON")?;
    let token = document.pointer_mut("/users/0/user/token").context("the demo's kubeconfig has no token")?;
    *token = service_account_token(token.as_str().unwrap_or_default(), name).into();
    let kubeconfig = Kubeconfig::from_yaml(&document.to_string())?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    // Nothing of the demo leaves this machine, even if the environment names a proxy.
    config.proxy_url = None;
    config.headers.push((USER_AGENT, HeaderValue::from_str(name)?));
    Ok(Client::try_from(config)?)
}

/// A resource as kube-rs describes it.
pub(super) fn api_resource(resource: &Resource) -> ApiResource {
    ApiResource {
        group: resource.group.to_owned(),
        version: resource.version.to_owned(),
        api_version: resource.api_version(),
        kind: resource.kind.to_owned(),
        plural: resource.name.to_owned(),
    }
}

/// A watcher as in a node agent. Errors are part of the demo, and the watcher continues after each of them.
pub(super) async fn watch(client: Client, resource: ApiResource, retry_after: Duration) {
    let mut events = pin!(watcher(Api::<DynamicObject>::all_with(client, &resource), watcher::Config::default()));
    while let Some(event) = events.next().await {
        if let Err(error) = event {
            tracing::debug!(%error, "the demo's watcher");
            sleep(retry_after).await;
        }
    }
}

pub(super) async fn reconcile(client: Client, resource: ApiResource) {
    let reconciler = |_object: Arc<DynamicObject>, _context: Arc<()>| async { Ok::<_, watcher::Error>(Action::await_change()) };
    let retry = |_object: Arc<DynamicObject>, _error: &watcher::Error, _context: Arc<()>| Action::requeue(Duration::from_secs(1));
    let objects = Api::<DynamicObject>::all_with(client, &resource);
    let controller = Controller::new_with(objects, watcher::Config::default(), resource);
    controller.run(reconciler, retry, Arc::new(())).for_each(|_reconciled| std::future::ready(())).await;
}

pub(super) async fn poll(client: Client, resource: ApiResource, every: Duration, parameters: ListParams) {
    let objects = Api::<DynamicObject>::all_with(client, &resource);
    loop {
        report(objects.list(&parameters).await.map(drop));
        sleep(every).await;
    }
}

/// Lists page by page.
pub(super) async fn page(client: Client, resource: ApiResource, every: Duration, size: u32) {
    let objects = Api::<DynamicObject>::all_with(client, &resource);
    loop {
        let mut parameters = ListParams::default().limit(size);
        loop {
            let page = objects.list(&parameters).await;
            let next = page.as_ref().ok().and_then(|page| page.metadata.continue_.clone()).filter(|token| !token.is_empty());
            report(page.map(drop));
            let Some(next) = next else { break };
            parameters = parameters.continue_token(&next);
        }
        sleep(every).await;
    }
}

/// Logs a failed request. watchtap shows it, and the client tries again after its interval.
pub(super) fn report(outcome: kube::Result<()>) {
    if let Err(error) = outcome {
        tracing::debug!(%error, "a client of the demo");
    }
}
