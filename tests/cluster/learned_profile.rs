//! The profile that watchtap learns from a real API server before it serves its first client.

use observer_tests::{Client, Cluster, ExecSession, HeldExec, Options};
use serde_json::Value;

#[test]
fn gates_and_watch_caches_are_learned_from_the_running_server() {
    let changed = Cluster::start(&Options {
        api_server_arguments: vec![
            "--feature-gates=WatchList=false".to_owned(),
            "--watch-cache-sizes=deployments.apps#0".to_owned(),
        ],
        ..Options::default()
    })
    .unwrap();
    let profile = learned(&changed);
    assert_eq!(profile["provenance"]["version"], "version-endpoint");
    assert_eq!(profile["provenance"]["gates"], "metrics", "{profile:#}");
    assert_eq!((&profile["gates"]["WatchList"], &profile["gates"]["ListFromCacheSnapshot"]), (&false.into(), &true.into()));
    assert_eq!(profile["uncached"], serde_json::json!(["deployments.apps"]), "{profile:#}");
    assert_eq!(profile["watch-cache"], true);
}

#[test]
fn unreported_gate_is_learned_from_a_contradicting_response() {
    let arguments = vec!["--feature-gates=WatchList=false".to_owned()];
    let cluster = Cluster::start(&Options { api_server_arguments: arguments, ..Options::default() }).unwrap();
    let watchtap = HeldExec::start(&cluster.kubeconfig_token().unwrap(), &["--no-metrics-request"]).unwrap();
    let server = format!("https://{}", watchtap.address().unwrap());
    let client = Client::of_server(&server, &watchtap.ca_pem().unwrap(), cluster.admin_token()).unwrap();
    for _ in 0..2 {
        let watch_list =
            "/api/v1/configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
        assert_eq!(client.raw("GET", watch_list, &[], b"").unwrap().status, 422);
    }
    let report = watchtap.finish().unwrap();
    let told: Vec<_> =
        (0..2).map(|watch| &report["requests"][watch]["verdict"]).map(|it| (&it["certainty"], &it["proof"])).collect();
    let expected = [("Contradicted", "refused-by-validation"), ("Confirmed", "refused-as-predicted")];
    assert_eq!(
        told,
        expected.map(|(certainty, proof)| (Value::from(certainty), Value::from(proof))).each_ref().map(|(c, p)| (c, p))
    );
    let profile = &report["profile"];
    assert_eq!((&profile["gates"]["WatchList"], &profile["gates-by-answers"]), (&false.into(), &serde_json::json!(["WatchList"])));
}

fn learned(cluster: &Cluster) -> Value {
    let session = ExecSession::start(&cluster.kubeconfig_token().unwrap(), &[]).unwrap();
    session.finish().unwrap().report["profile"].clone()
}
