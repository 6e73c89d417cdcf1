//! Polls for conditions that become true without a notification.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use observer_tests::Cluster;
use serde_json::Value;

/// Maximum time for the last events on a busy machine, and for the last connections to end.
const WITHIN: Duration = Duration::from_secs(30);

/// Polls until it returns a value, within the limit.
pub(crate) fn eventually<T>(mut asked: impl FnMut() -> Option<T>) -> Option<T> {
    const PAUSE: Duration = Duration::from_millis(50);
    let began = Instant::now();
    loop {
        let given = asked();
        if given.is_some() || began.elapsed() > WITHIN {
            return given;
        }
        thread::sleep(PAUSE);
    }
}

/// `uid` and `resourceVersion` of each config map of a namespace, as the API server lists them.
#[track_caller]
pub(crate) fn listed(cluster: &Cluster, namespace: &str) -> BTreeSet<(String, String)> {
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    let list = cluster.raw("GET", &path, &[], b"").unwrap().success().unwrap().json().unwrap();
    let text = |item: &Value, field: &str| item["metadata"][field].as_str().unwrap().to_owned();
    list["items"].as_array().unwrap().iter().map(|item| (text(item, "uid"), text(item, "resourceVersion"))).collect()
}
