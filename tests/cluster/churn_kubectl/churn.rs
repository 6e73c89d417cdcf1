//! Tests that after churn, a controller behind watchtap has the same objects as one that connects directly, and that watchtap's
//! memory has not grown.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use observer_core::observer::Limits;
use observer_tests::{Client, Cluster, ConfigMapController, Listening, Options, RunSession, UsageSamples, kube_client};
use serde_json::Value;

use super::visitors::Kubectl;
use super::writer;
use crate::eventually::{eventually, listed};

const NAMESPACE: &str = "churn";
/// The environment variable with the duration of the churn in seconds; `CONTRIBUTING.md` describes it.
const SECONDS: &str = "WATCHTAP_TESTS_CHURN_SECONDS";
const USUALLY: Duration = Duration::from_mins(2);
/// Minimum duration: a shorter run has too few samples for a result.
const AT_LEAST: Duration = Duration::from_secs(20);
const SAMPLE_EVERY: Duration = Duration::from_millis(500);
const MOST_RISE: u64 = 1 << 20;

#[test]
fn proxied_and_direct_controllers_agree_and_leak_no_resources() {
    let lasts = duration();
    // Other tests count config map operations on the shared cluster.
    let cluster = Cluster::start(&Options::default()).unwrap();
    cluster.create_configmaps(NAMESPACE, 50).unwrap();
    let direct = cluster.kubeconfig_token().unwrap();
    let session = RunSession::start(&direct, &[]).unwrap();
    let descriptors_at_first = idle_descriptors(&session);

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let start = |kubeconfig: &Path| runtime.block_on(ConfigMapController::start(kubeconfig, None, NAMESPACE)).unwrap();
    let (behind, twin) = (start(session.kubeconfig()), start(&direct));
    runtime.block_on(fill_the_table_of_requests(session.kubeconfig()));
    let samples = churn(&cluster, &session, lasts);

    let agreed = eventually(|| {
        let (behind, twin) = (behind.objects(), twin.objects());
        (behind == twin && behind == listed(&cluster, NAMESPACE)).then_some(behind)
    });
    let agreed = agreed.unwrap_or_else(|| {
        let (behind, twin) = (behind.objects(), twin.objects());
        panic!("only behind the tap: {:?}; only directly: {:?}", &behind - &twin, &twin - &behind)
    });
    println!("{} objects; reconciled {} and {} times", agreed.len(), behind.reconciled(), twin.reconciled());
    assert!(agreed.len() > 50 && behind.reconciled() > 0, "{agreed:?}");

    drop((behind, twin, runtime));
    let rise = samples.rise().unwrap();
    println!("{}risen by {} KiB", samples.summary(), rise >> 10);
    assert!(rise < MOST_RISE, "resident memory rose by {rise} bytes");
    let left_over = || session.usage().unwrap().descriptors.abs_diff(descriptors_at_first);
    assert!(
        eventually(|| (left_over() == 0).then_some(())).is_some(),
        "{descriptors_at_first} at first, now {:?}",
        session.usage()
    );
    check_report(&session.finish().unwrap());
}

/// Duration of the churn; its first fifth is the warm-up.
fn duration() -> Duration {
    let Ok(text) = std::env::var(SECONDS) else { return USUALLY };
    let seconds = text.parse().unwrap_or_else(|error| panic!("{SECONDS}={text}: {error}"));
    let lasts = Duration::from_secs(seconds);
    assert!(lasts >= AT_LEAST, "{SECONDS}={text}: it takes {AT_LEAST:?} or more");
    lasts
}

/// The descriptor count without clients, after one client has come and left; it must be stable for one second.
fn idle_descriptors(session: &RunSession) -> usize {
    const LOOKS: usize = 20;
    let Listening { address, authority } = session.listening().unwrap();
    let client = Client::of_server(&format!("https://{address}"), &authority, "nobody's").unwrap();
    assert_eq!(client.raw("GET", "/version", &[], b"").unwrap().status, 401);
    let mut looks = (0, 0);
    let settled = eventually(|| {
        let count = session.usage().unwrap().descriptors;
        looks = (count, if looks.0 == count { looks.1 + 1 } else { 0 });
        (looks.1 == LOOKS).then_some(count)
    });
    settled.expect("nobody comes and nobody leaves")
}

/// Lets the writer and kubectl run for `lasts`, and samples watchtap's usage meanwhile.
fn churn(cluster: &Cluster, session: &RunSession, lasts: Duration) -> UsageSamples {
    let home = tempfile::tempdir().unwrap();
    let (writing, client) = (channel(), cluster.client_for_bulk().unwrap());
    let (visiting, kubectl) = (channel(), Kubectl { kubeconfig: session.kubeconfig(), home: home.path(), namespace: NAMESPACE });
    let (over, ended_early) = channel();
    thread::scope(|scope| {
        let also_over = over.clone();
        let writer = scope.spawn(move || {
            let changes = writer::write(&client, NAMESPACE, &writing.1);
            // The receiver is gone when the time is over.
            over.send(()).ok();
            changes
        });
        let visitor = scope.spawn(move || {
            let visits = kubectl.visit(&visiting.1);
            also_over.send(()).ok();
            visits
        });
        let began = Instant::now();
        let mut samples = UsageSamples::default();
        while began.elapsed() < lasts && ended_early.recv_timeout(SAMPLE_EVERY) == Err(RecvTimeoutError::Timeout) {
            samples.add(began.elapsed(), session.usage().unwrap());
        }
        // The visitor stops first, because it waits for the writer's changes.
        drop(visiting.0);
        let visits = visitor.join().unwrap().unwrap();
        drop(writing.0);
        let changes = writer.join().unwrap().unwrap();
        println!("{changes:?}, {visits:?} in {:?}", began.elapsed());
        assert!([changes.created, changes.updated, changes.deleted].iter().all(|count| *count > 0), "{changes:?}");
        assert!([visits.gets, visits.watches_cut_off, visits.applies].iter().all(|count| *count > 0), "{visits:?}");
        samples
    })
}

/// Fills watchtap's table of finished requests, which has a maximum size. Otherwise, the growth of the table would count as growth
/// of memory in a short run.
async fn fill_the_table_of_requests(kubeconfig: &Path) {
    const AT_ONCE: usize = 4;
    let config_maps: Api<ConfigMap> = Api::namespaced(kube_client(kubeconfig, None).await.unwrap(), NAMESPACE);
    let gets = stream::iter(0..Limits::default().records).map(|_| config_maps.get("cm-0"));
    gets.buffer_unordered(AT_ONCE).try_for_each(|_| std::future::ready(Ok(()))).await.unwrap();
}

/// Checks that everything observed was understood.
#[track_caller]
fn check_report(report: &Value) {
    let missed = &report["missed"];
    println!("totals: {}; missed: {missed}", report["totals"]);
    for counter in ["malformed", "stopped_directions", "decoder_failures", "unknown_requests", "exchanges_dropped", "rows_dropped"]
    {
        assert_eq!(missed[counter], 0, "{counter}: {missed:#}");
    }
    assert_eq!(report["totals"]["open"], 0, "{:#}", report["totals"]);
}
