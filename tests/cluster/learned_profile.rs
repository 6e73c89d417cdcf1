//! What watchtap learns of a real API server before its first client is served.

use observer_tests::{Cluster, ExecSession, Options};
use serde_json::Value;

#[test]
fn gates_and_watch_caches_are_those_of_the_running_server() {
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

fn learned(cluster: &Cluster) -> Value {
    let session = ExecSession::start(&cluster.kubeconfig_token().unwrap(), &[]).unwrap();
    session.finish().unwrap().report["profile"].clone()
}
