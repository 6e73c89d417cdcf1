//! S4: lists of one client in every form, on servers of four minors. The server's own counters show which layer answered.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::PodTemplate;
use kube::Api;
use kube::api::{ListParams, VersionMatch};
use observer_tests::{ListCounters, Minor, kube_client};
use serde_json::json;
use tokio::runtime::Runtime;

use super::stage::{NAMESPACE, Stage, quiet_cluster};

/// No other client reads this resource, so the client causes every count.
const RESOURCE: &str = "podtemplates";
const OBJECTS: usize = 7;

#[test]
fn verdict_of_every_list_form_matches_the_server_counters() -> Result<()> {
    verdicts_match_on(Minor(34))
}

#[test]
fn verdict_of_every_list_form_matches_the_counters_of_an_older_server() -> Result<()> {
    verdicts_match_on(Minor(31))
}

#[test]
fn verdict_of_every_list_form_matches_the_counters_of_1_29() -> Result<()> {
    verdicts_match_on(Minor(29))
}

#[test]
fn verdict_of_every_list_form_matches_the_counters_of_1_36() -> Result<()> {
    verdicts_match_on(Minor(36))
}

fn verdicts_match_on(minor: Minor) -> Result<()> {
    let mut stage = Stage::set(quiet_cluster(minor, &[], 1)?)?;
    let revision = create_templates(&stage)?;
    let (kubeconfig, _) = stage.own_client()?;
    let runtime = Runtime::new()?;
    let client = runtime.block_on(kube_client(&kubeconfig, None))?;
    let templates: Api<PodTemplate> = Api::namespaced(client, NAMESPACE);
    let at = || ListParams::default().at(&revision);
    let page = runtime.block_on(templates.list(&ListParams::default().limit(3)))?;
    let token = page.metadata.continue_.context("a page that is not the last")?;
    let forms = [
        ("RV unset", ListParams::default()),
        ("RV=0", ListParams::default().match_any()),
        ("RV=N", at()),
        ("RV=N limit", at().limit(3)),
        ("RV=N exact", at().matching(VersionMatch::Exact)),
        ("RV=N not older", at().matching(VersionMatch::NotOlderThan)),
        ("continue", ListParams::default().limit(3).continue_token(&token)),
    ];
    for (form, parameters) in forms {
        let before = stage.cluster.counters(RESOURCE)?;
        let seen = stage.events()?.all("request").count();
        let list = runtime.block_on(templates.list(&parameters))?;
        let counted = stage.cluster.counters(RESOURCE)? - before;
        let events = stage.events_when(|events| events.all("request").count() > seen)?;
        let request = events.all("request").last().context("a request")?;
        ensure!(request["resource"] == RESOURCE && request["items"] == list.items.len(), "{form}: {request:#}");
        let verdict = &request["verdict"];
        let layers = layers(counted);
        ensure!(
            layers.iter().any(|layer| verdict["served_from"] == *layer),
            "{minor}, {form}: {layers:?} by {counted:?}, not {verdict}"
        );
        let reading = stage.reading_when(|reading| verdict["rule"].as_str().is_some_and(|rule| reading.text.contains(rule)))?;
        ensure!(reading.report["totals"]["contradicted"].as_u64().unwrap_or(0) == 0, "{}", reading.text);
    }
    stage.close()
}

/// The layers that the counters allow: they do not distinguish the watch cache from a snapshot.
fn layers(counted: ListCounters) -> &'static [&'static str] {
    match counted {
        ListCounters { etcd_lists: 1.., .. } => &["Etcd"],
        ListCounters { cache_lists: 1, etcd_gets: 1, .. } => &["CacheConsistent"],
        ListCounters { cache_lists: 1, etcd_gets: 0, .. } => &["Cache", "Snapshot"],
        _ => &[],
    }
}

/// Creates the objects directly on the API server; returns the revision of the last.
fn create_templates(stage: &Stage) -> Result<String> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/podtemplates");
    let mut revision = String::new();
    for number in 0..OBJECTS {
        let object = json!({"metadata": {"name": format!("template-{number}")}, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}});
        let made = stage.cluster.client().post(&path, &object)?.success()?.json()?;
        made["metadata"]["resourceVersion"].as_str().context("a version")?.clone_into(&mut revision);
    }
    Ok(revision)
}
