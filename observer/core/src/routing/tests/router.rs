//! A router gives the verdicts of [`route`], whatever it was asked before.

use std::collections::BTreeSet;

use super::asking::{Request, server};
use crate::routing::{EtcdSupport, Gate, RevisionHistory, Router, ServerProfile, route};
use crate::time::Timestamp;

const PATHS: [&str; 12] = [
    "GET /api/v1/pods",
    "GET /api/v1/namespaces/d/pods",
    "GET /api/v1/namespaces/d/pods/x",
    "GET /api/v1/namespaces/d/pods/x/log",
    "GET /api/v1/nodes",
    "GET /api/v1/events",
    "GET /apis/example.com/v1/widgets",
    "GET /apis/example.com/v1/namespaces/d/widgets",
    "GET /apis/metrics.k8s.io/v1beta1/pods",
    "GET /version",
    "DELETE /api/v1/namespaces/d/pods",
    "POST /api/v1/namespaces/d/pods",
];

const TOKEN: &str = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NjAwMCwic3RhcnQiOiJ4XHUwMDAwIn0";

fn queries() -> Vec<String> {
    let mut queries = vec![String::new()];
    for parameters in [
        &["resourceVersion=0", "resourceVersion=5000", "resourceVersion=9000", "resourceVersion=x"][..],
        &["resourceVersionMatch=Exact", "resourceVersionMatch=NotOlderThan"],
        &["limit=5", "limit=x"],
        &["watch=1", "watch=1&sendInitialEvents=true&allowWatchBookmarks=true"],
        &["labelSelector=a%3Db", "fieldSelector=metadata.name%3Dx", "fieldSelector=metadata.name%3Dx,metadata.namespace%3Dd"],
        &[&format!("continue={TOKEN}"), "continue=x"],
    ] {
        let with = |query: &String| parameters.iter().map(|parameter| format!("{query}&{parameter}")).collect::<Vec<_>>();
        queries.extend(queries.iter().flat_map(with).collect::<Vec<_>>());
    }
    queries
}

#[test]
fn router_gives_the_verdicts_of_single_questions() {
    let mut history = RevisionHistory::default();
    history.note(5000, Timestamp::from_nanos(990_000_000_000));
    let gates = [(Gate::WatchList, true)].into();
    let profiles = [
        ServerProfile::default(),
        ServerProfile { gates, ..ServerProfile::default() },
        ServerProfile { etcd: EtcdSupport::Unknown, ..ServerProfile::default() },
        ServerProfile { uncached: ["pods".to_owned()].into(), ..ServerProfile::default() },
        server("1.34.4"),
    ];
    let mut router = Router::default();
    let queries = queries();
    let (mut asked, mut different) = (0, BTreeSet::new());
    for (number, query) in queries.iter().enumerate() {
        for path in PATHS {
            let request = Request::new(&format!("{path}?{query}"));
            // Each combination of a profile and a history comes often, and in another order.
            let (profile, history) = (&profiles[number % profiles.len()], Some(&history).filter(|_| number % 3 == 0));
            let question = request.question(profile, history);
            for _again in 0..2 {
                let verdict = router.route(&question);
                assert_eq!(verdict, route(&question), "{path}?{query}");
                different.insert(format!("{verdict:?}"));
            }
            asked += 1;
        }
    }
    assert!(asked > 10_000 && different.len() > 30, "{asked} {}", different.len());
}
