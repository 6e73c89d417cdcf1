//! Three watchtaps observe one API server, each with few clients. The rules of `deploy` join their relists into one storm.
//!
//! The rules look at two minutes. The test takes less, because Prometheus also answers queries for times that have not come yet: the last
//! samples then count for five minutes, which is what it would store if nothing more happened. So two minutes that begin at a chosen
//! moment are evaluated as soon as their relists are stored. The expressions are those that Prometheus has loaded.

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv4Addr;
use std::time::Duration;

use observer_demo::{DemoConfig, DemoServer, Script, api, story};
use observer_tests::prometheus::{Series, Target, now};
use observer_tests::{Port, Prometheus, RunSession};
use tokio::runtime::Runtime;

use super::stored::until;

/// The pods, and the clients behind the watchtap in each. Ten reflectors would be a storm of one process.
const PODS: [(&str, &str); 3] = [("sidecar-a", AGENT), ("sidecar-b", AGENT), ("sidecar-c", AGENT_AND_LISTER)];
/// client-go before 1.16 relists when its connection is refused.
const AGENT: &str = "0s start reflectors agent/1.0 client-go=1.15 watches=pods,services,nodes,configmaps\n";
const AGENT_AND_LISTER: &str = "0s start reflectors agent/1.0 client-go=1.15 watches=pods,services,nodes,configmaps\n\
                                0s start reflectors lister/1.0 client-go=1.15 watches=namespaces\n";
/// The reflectors of all of them.
const REFLECTORS: usize = 4 + 4 + 5;
/// The length of the rules' window.
const WINDOW: f64 = 120.0;
const STORM: &str = "job_upstream:watchtap_joined_storm_relists:delta2m";
const RELISTS: &str = "job_upstream:watchtap_triggered_relists:delta2m";
/// The relists of all processes, as Prometheus has recorded them.
const RECORDED: &str = "sum(instance:watchtap_triggered_relists:sum)";
const FIRING: &str = "ALERTS{alertname=\"WatchtapJoinedStorm\", alertstate=\"firing\"}";

#[test]
fn restart_of_the_api_server_behind_three_watchtaps_is_one_storm() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    fs::write(&kubeconfig, server.kubeconfig()).unwrap();
    let clients = Runtime::new().unwrap();
    let (mut targets, mut sessions) = (Vec::new(), Vec::new());
    for (pod, script) in PODS {
        let port = Port::reserve().unwrap();
        let address = (Ipv4Addr::LOCALHOST, port.number()).into();
        let session = RunSession::start(&kubeconfig, &["--quiet", "--metrics", &format!("{address}")]).unwrap();
        let (script, handle, through) = (Script::parse(pod, script).unwrap(), server.handle(), session.kubeconfig().to_owned());
        clients.spawn(async move { story::play(&script, handle, through, 1, |_| {}).await });
        targets.push(Target { address, pod: Some(pod) });
        sessions.push((session, port));
    }
    let began = now();
    let Some(prometheus) = Prometheus::start(&targets).unwrap() else { return };
    let records = prometheus.records().unwrap();
    let [storm, relists] = [STORM, RELISTS].map(|record| expanded(record, &records));
    let recorded = |expected: usize| number(&prometheus.query(RECORDED, now()).unwrap()) == Some(as_number(expected));
    let open = || number(&prometheus.query("sum(watchtap_watches_open)", now()).unwrap());
    let namespaces = api::find("", "v1", "namespaces").unwrap();

    // One client relists by chance.
    until(|| open() == Some(as_number(REFLECTORS)));
    server.handle().expire_watches_of(namespaces);
    until(|| recorded(1) && open() == Some(as_number(REFLECTORS)));
    let before_the_storm = now();
    assert_eq!(prometheus.query(FIRING, now()).unwrap(), []);

    // Then the API server restarts.
    server.handle().restart(Duration::from_secs(1)).blocking_recv().unwrap();
    until(|| recorded(1 + REFLECTORS) && open() == Some(as_number(REFLECTORS)));
    until(|| !prometheus.query(FIRING, now()).unwrap().is_empty());
    let after_the_storm = now();
    let two_minutes = before_the_storm + WINDOW;
    let joined = prometheus.query(&storm, two_minutes).unwrap();
    let upstream = server.address().to_string();
    let names: Vec<_> = joined.iter().map(|series| (series.labels["job"].as_str(), series.labels["upstream"].as_str())).collect();
    assert_eq!(names, [("watchtap", upstream.as_str())], "{joined:?}");
    assert_eq!(joined[0].labels.len(), 2, "{joined:?}");
    assert_eq!(number(&joined), Some(as_number(REFLECTORS)), "the relist by chance was before");

    // Another one relists by chance.
    server.handle().expire_watches_of(namespaces);
    until(|| recorded(1 + REFLECTORS + 1));
    let (last, two_minutes) = (now(), after_the_storm + WINDOW);
    assert_eq!(number(&prometheus.query(&relists, two_minutes).unwrap()), Some(1.0), "the storm was before");
    assert_eq!(prometheus.query(&storm, two_minutes).unwrap(), [], "a relist by chance is no storm");

    // Over all of the time, there is one storm, and the last relist does not prolong it.
    let storms = prometheus.query_each_second(&storm, began, last + WINDOW + 10.0).unwrap();
    let [storm] = &storms[..] else { panic!("{storms:?}") };
    let (first, last) = (storm.points[0].0, storm.points[storm.points.len() - 1].0);
    assert!(first > before_the_storm && last < two_minutes, "{storm:?}");
    assert!(storm.points.windows(2).all(|two| two[1].0 - two[0].0 < 1.5), "it ends and begins again: {storm:?}");
    let fired = prometheus.labels_of(FIRING, began, now()).unwrap();
    assert_eq!(fired.iter().map(|labels| labels["upstream"].as_str()).collect::<Vec<_>>(), [upstream]);
    // No process could have reported it alone.
    assert_eq!(number(&prometheus.query("sum(watchtap_storms_total)", now()).unwrap()), Some(0.0));
    let instances = prometheus.query("instance:watchtap_triggered_relists:sum", now()).unwrap();
    let instances = instances.iter().map(|one| (one.labels["instance"].as_str(), one.labels["pod"].as_str(), one.points[0].1));
    let expected = [("sidecar-a", "sidecar-a", 4.0), ("sidecar-b", "sidecar-b", 4.0), ("sidecar-c", "sidecar-c", 7.0)];
    assert_eq!(instances.collect::<Vec<_>>(), expected);
    clients.shutdown_background();
}

/// The expression of a record, in which the expressions of other records replace their names. An earlier value (`offset`) remains what
/// Prometheus has recorded.
fn expanded(record: &str, records: &BTreeMap<String, String>) -> String {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || ['_', ':'].contains(&letter);
    let mut rest = records[record].as_str();
    let mut text = String::new();
    while let Some(start) = rest.find(is_of_name) {
        text.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if records.contains_key(name) && !after.trim_start().starts_with("offset") {
            text.extend(["(", &expanded(name, records), ")"]);
        } else {
            text.push_str(name);
        }
        rest = after;
    }
    text + rest
}

/// The number of the only series.
fn number(series: &[Series]) -> Option<f64> {
    let [one] = series else { return None };
    one.points.last().map(|(_, number)| *number)
}

fn as_number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}
