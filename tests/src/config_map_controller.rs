//! A kube-rs controller for the config maps of one namespace, with its store.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::reflector::Store;
use kube::runtime::watcher;
use kube::{Api, Client, ResourceExt};
use tokio::task::JoinHandle;

/// Runs until it is dropped, on the runtime that started it.
///
/// Like many controllers, it does not trust its store: for each change it gets the object from the API server.
#[derive(Debug)]
pub struct ConfigMapController {
    store: Store<ConfigMap>,
    reconciled: Arc<AtomicU64>,
    running: JoinHandle<()>,
}

/// The context of a reconciliation.
struct Reconciliation {
    config_maps: Api<ConfigMap>,
    done: Arc<AtomicU64>,
}

impl ConfigMapController {
    /// Starts a controller with this kubeconfig; it ignores the environment.
    pub async fn start(kubeconfig: &Path, context: Option<&str>, namespace: &str) -> Result<Self> {
        let client = client(kubeconfig, context).await?;
        let config_maps: Api<ConfigMap> = Api::namespaced(client, namespace);
        let controller = Controller::new(config_maps.clone(), watcher::Config::default());
        let (store, reconciled) = (controller.store(), Arc::<AtomicU64>::default());
        let context = Arc::new(Reconciliation { config_maps, done: Arc::clone(&reconciled) });
        let retry = |_: Arc<ConfigMap>, _: &kube::Error, _: Arc<Reconciliation>| Action::requeue(Duration::from_secs(1));
        let results = controller.run(reconcile, retry, context);
        let running = tokio::spawn(results.for_each(|_| std::future::ready(())));
        Ok(Self { store, reconciled, running })
    }

    /// `uid` and `resourceVersion` of each object in the store.
    pub fn objects(&self) -> BTreeSet<(String, String)> {
        let identity = |object: &Arc<ConfigMap>| (object.uid().unwrap_or_default(), object.resource_version().unwrap_or_default());
        self.store.state().iter().map(identity).collect()
    }

    /// The number of reconciliations so far.
    pub fn reconciled(&self) -> u64 {
        self.reconciled.load(Ordering::Relaxed)
    }
}

impl Drop for ConfigMapController {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// A kube-rs client with this kubeconfig, for `context` or for the current context.
pub async fn client(kubeconfig: &Path, context: Option<&str>) -> Result<Client> {
    let document = Kubeconfig::read_from(kubeconfig).with_context(|| format!("cannot read {}", kubeconfig.display()))?;
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    Ok(Client::try_from(Config::from_custom_kubeconfig(document, &options).await?)?)
}

async fn reconcile(object: Arc<ConfigMap>, context: Arc<Reconciliation>) -> Result<Action, kube::Error> {
    // The object may have been deleted in the meantime.
    context.config_maps.get_opt(&object.name_any()).await?;
    context.done.fetch_add(1, Ordering::Relaxed);
    Ok(Action::await_change())
}
