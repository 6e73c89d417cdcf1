//! Programs that install and upgrade the configuration: they and the webhook leave each other's fields alone.

use serde_json::{Value, json};
use watchtap::webhook::certificate::Certificates;

use super::rights::managed_fields;
use super::system::{System, await_state, certificate};
use crate::eventually::eventually;

const APPLY: &str = "application/apply-patch+yaml";

#[tokio::test(flavor = "multi_thread")]
async fn upgrade_by_a_patch_keeps_the_bundle() {
    let system = System::install("webhook-helm-3");
    let mut replica = system.replica();
    await_state(&mut replica, Certificates::is_ready).await;
    let bundle = system.bundle();
    // Helm 3 sends a three-way patch: here, of what the new chart renders differently, with the lists that it renders.
    for seconds in [6, 7] {
        let mut configuration = system.configuration();
        for webhook in configuration["webhooks"].as_array_mut().unwrap() {
            webhook["timeoutSeconds"] = json!(seconds);
        }
        let patch = json!({"webhooks": configuration["webhooks"]});
        let media_type = "application/strategic-merge-patch+json";
        system.patch(&system.configuration_path(), media_type, &patch).success().unwrap();
        assert_eq!(system.bundle(), bundle);
        assert_unchanged_by_the_webhook(&system, &replica);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn upgrade_by_server_side_apply_has_no_conflict_and_keeps_the_bundle() {
    let system = System::install("webhook-helm-4");
    // Helm 4 installs by apply as well.
    let path = format!("{}?fieldManager=helm", system.configuration_path());
    system.send("DELETE", &system.configuration_path(), &Value::Null).success().unwrap();
    system.patch(&path, APPLY, &system.configuration()).success().unwrap();
    let mut replica = system.replica();
    await_state(&mut replica, Certificates::is_ready).await;
    let bundle = system.bundle();
    for seconds in [5, 6, 7] {
        let mut configuration = system.configuration();
        for webhook in configuration["webhooks"].as_array_mut().unwrap() {
            webhook["timeoutSeconds"] = json!(seconds);
        }
        // Without force: a field of the webhook in it would be a conflict.
        system.patch(&path, APPLY, &configuration).success().unwrap();
        assert_eq!(system.bundle(), bundle);
        assert_unchanged_by_the_webhook(&system, &replica);
    }
    let configuration = system.read(&system.configuration_path()).unwrap();
    let of_webhook = managed_fields(&configuration, "watchtap-ca").to_string();
    let of_helm = managed_fields(&configuration, "helm").to_string();
    assert!(of_webhook.contains("f:caBundle") && !of_webhook.contains("f:timeoutSeconds"), "{of_webhook}");
    assert!(of_helm.contains("f:timeoutSeconds") && !of_helm.contains("f:caBundle"), "{of_helm}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bundle_comes_back_after_a_replacement_and_a_reinstallation() {
    let system = System::install("webhook-replacement");
    let mut replicas = [system.replica(), system.replica()];
    for replica in &mut replicas {
        await_state(replica, Certificates::is_ready).await;
    }
    let bundle = system.bundle();
    let mut configuration = system.configuration();
    let present = system.read(&system.configuration_path()).unwrap();
    configuration["metadata"]["resourceVersion"] = present["metadata"]["resourceVersion"].clone();
    system.send("PUT", &system.configuration_path(), &configuration).success().unwrap();
    eventually(|| (system.bundle() == bundle).then_some(())).expect("the bundle is written again");
    system.send("DELETE", &system.configuration_path(), &Value::Null).success().unwrap();
    for replica in &mut replicas {
        await_state(replica, |replica| !replica.is_ready()).await;
        let problem = replica.problem().unwrap();
        assert!(problem.contains("there is no MutatingWebhookConfiguration webhook-replacement"), "{problem}");
    }
    assert!(system.read(&system.configuration_path()).is_none(), "no replica creates it");
    let path = format!("{}?fieldManager=helm", system.configuration_path());
    system.patch(&path, APPLY, &system.configuration()).success().unwrap();
    for replica in &mut replicas {
        await_state(replica, Certificates::is_ready).await;
    }
    assert_eq!(system.bundle(), bundle);
}

#[tokio::test(flavor = "multi_thread")]
async fn chart_that_drops_a_webhook_by_apply_needs_a_new_configuration() {
    let system = System::install("webhook-dropped");
    let path = format!("{}?fieldManager=helm", system.configuration_path());
    system.send("DELETE", &system.configuration_path(), &Value::Null).success().unwrap();
    system.patch(&path, APPLY, &system.configuration()).success().unwrap();
    let mut replica = system.replica();
    await_state(&mut replica, Certificates::is_ready).await;
    let mut fewer = system.configuration();
    fewer["webhooks"].as_array_mut().unwrap().pop();
    // The dropped webhook would keep its `caBundle`, and nothing else. So the chart must not rename its webhooks.
    let refused = system.patch(&path, APPLY, &fewer);
    assert_eq!(refused.status, 422, "{}", refused.text());
    assert!(refused.text().contains("webhooks[1].sideEffects"), "{}", refused.text());
    system.send("DELETE", &system.configuration_path(), &Value::Null).success().unwrap();
    system.patch(&path, APPLY, &fewer).success().unwrap();
    let stored = system.stored().unwrap();
    eventually(|| (system.bundle() == [certificate(&stored)]).then_some(())).expect("the bundle is written again");
}

/// Waits for some checks of the webhook: it changes nothing, and is ready throughout.
#[track_caller]
fn assert_unchanged_by_the_webhook(system: &System, replica: &Certificates) {
    let version = |system: &System| system.read(&system.configuration_path()).unwrap()["metadata"]["resourceVersion"].clone();
    let (before, requests) = (version(system), system.requests().len());
    eventually(|| (system.requests().len() >= requests + 6).then_some(())).expect("the webhook checks");
    assert_eq!(version(system), before);
    assert!(replica.is_ready());
    assert_eq!(replica.problem(), None);
}
