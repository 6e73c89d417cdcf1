//! The webhook is away, or does not answer: pods start without a sidecar.

use observer_tests::{Client, WebhookProcess};
use rustix::process::Signal;
use serde_json::json;

use super::registration::{await_sidecars, cluster, configuration, dry_run, has_sidecar, pod, register};

#[test]
fn pods_pass_while_the_webhook_is_away_and_get_sidecars_again_after_it() {
    let cluster = cluster();
    let client = cluster.client();
    let mut webhook = WebhookProcess::start().unwrap();
    register(&client, &configuration("watchtap", &webhook.url(), webhook.authority()));
    await_sidecars(&client);
    let created = client.post("/api/v1/namespaces/default/pods", &pod("stored", &json!({}))).unwrap().success().unwrap();
    assert!(has_sidecar(&created.json().unwrap()));
    // Killed: nothing listens.
    webhook.kill().unwrap();
    assert_passes(&client);
    // Another one with the same certificate on the same port.
    let webhook = webhook.restart().unwrap();
    await_sidecars(&client);
    // It hangs: the time limit of the configuration decides.
    webhook.signal(Signal::STOP).unwrap();
    assert_passes(&client);
    webhook.signal(Signal::CONT).unwrap();
    await_sidecars(&client);
}

/// A pod passes without a sidecar, because the call of the webhook failed.
#[track_caller]
fn assert_passes(client: &Client) {
    let before = failed_calls(client);
    let without = dry_run(client, &pod("without", &json!({}))).success().unwrap().json().unwrap();
    assert!(without["spec"]["initContainers"].is_null() && without["metadata"]["annotations"].is_null(), "{without}");
    assert_eq!(failed_calls(client), before + 1);
}

/// The number of pods that passed because of `failurePolicy: Ignore`, as the API server counts them.
fn failed_calls(client: &Client) -> u64 {
    let metrics = client.get("/metrics").unwrap().text();
    let of_webhook = metrics.lines().filter_map(|line| line.strip_prefix("apiserver_admission_webhook_fail_open_count{"));
    of_webhook.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum()
}

#[test]
fn webhook_with_another_certificate_is_not_believed() {
    let cluster = cluster();
    let client = cluster.client();
    let (webhook, other) = (WebhookProcess::start().unwrap(), WebhookProcess::start().unwrap());
    register(&client, &configuration("watchtap", &webhook.url(), webhook.authority()));
    await_sidecars(&client);
    super::registration::replace(&client, &configuration("watchtap", &other.url(), webhook.authority()));
    let handshakes = || other.scraper().scrape().unwrap().count("watchtap_webhook_closed_connections_total", "handshake").unwrap();
    let refused = crate::eventually::eventually(|| {
        let without = dry_run(&client, &pod("without", &json!({}))).success().unwrap().json().unwrap();
        (!has_sidecar(&without) && handshakes() > 0).then_some(())
    });
    refused.expect("the API server ends the handshake");
}
