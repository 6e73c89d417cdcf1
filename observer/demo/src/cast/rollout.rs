//! Replaces the deployment controller: it marks each deployment as rolled out, so that clients that wait for that continue.
//!
//! It creates no replica sets and no pods: nothing runs in the demo.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::watcher;
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};

/// Writes the status of every deployment whose specification changes, until it is dropped.
pub(super) async fn finish_rollouts(client: Client) {
    let controller = Controller::new(Api::<Deployment>::all(client.clone()), watcher::Config::default());
    let retry = |_deployment: Arc<Deployment>, _error: &kube::Error, _client: Arc<Client>| Action::requeue(Duration::from_secs(1));
    controller.run(finish, retry, Arc::new(client)).for_each(|_finished| std::future::ready(())).await;
}

async fn finish(deployment: Arc<Deployment>, client: Arc<Client>) -> kube::Result<Action> {
    let seen = deployment.status.as_ref().and_then(|status| status.observed_generation);
    if seen != deployment.metadata.generation {
        let deployments = Api::<Deployment>::namespaced(Client::clone(&client), &deployment.namespace().unwrap_or_default());
        let status = Patch::Merge(json!({"status": rolled_out(&deployment)}));
        deployments.patch_status(&deployment.name_any(), &PatchParams::default(), &status).await?;
    }
    Ok(Action::await_change())
}

fn rolled_out(deployment: &Deployment) -> Value {
    let replicas = deployment.spec.replicas.unwrap_or(1);
    json!({
        "observedGeneration": deployment.metadata.generation,
        "replicas": replicas,
        "updatedReplicas": replicas,
        "readyReplicas": replicas,
        "availableReplicas": replicas,
        "conditions": [
            {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
        ],
    })
}
