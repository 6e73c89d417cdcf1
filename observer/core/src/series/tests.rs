//! Tests of label sets: their bounds, what counts when, and the tables of names.

use std::collections::BTreeSet;
use std::time::Duration;

use expect_test::{Expect, expect};

use super::*;
use crate::exchange::Exchange;
use crate::http::{Direction, Identity, StreamId};
use crate::k8s::{Container, ListOptions, Pod, RequestInfo, Workload};
use crate::observation::{
    Body, CgroupOwner, ConnectionId, ExchangeEnd, ExchangeId, ExchangeObservation, Process, RequestLine, ResponseLine, UpstreamName,
};
use crate::routing::{Basis, CacheState, Question, ServerProfile, all_rules, route};
use crate::time::Timestamp;
use crate::wire::{EventType, ObjectRef, WatchFrame};

#[test]
fn request_counts_when_it_ends_and_is_in_flight_before() {
    let mut played = Played::new(SeriesLimits::default());
    let mut list = played.begin("GET", "/api/v1/pods?limit=500", "kubelet/v1.34.0 (linux/amd64)", "");
    played.check(Family::RequestsInFlight, &expect!["kubelet||LIST 1"]);
    played.check(Family::Requests, &expect![""]);
    played.apply(&mut list, &responded(200));
    played.apply(&mut list, &bytes(Direction::Response, 700));
    played.check(Family::FirstByte, &expect!["LIST||pods|cluster 1"]);
    played.check(Family::ResponseBytes, &expect![""]);
    played.apply(&mut list, &items(3));
    played.end(list);
    played.check(Family::RequestsInFlight, &expect!["kubelet||LIST 0"]);
    played.check(Family::Requests, &expect!["kubelet|||pods|LIST||cluster|200|cache_consistent 1"]);
    played.check(Family::ResponseBytes, &expect!["kubelet|||pods|LIST|cache_consistent 700"]);
    played.check(Family::ListItems, &expect!["kubelet|||pods|cluster|cache_consistent 3"]);
    played.check(Family::RequestDuration, &expect!["LIST||pods|cluster|cache_consistent 1"]);
    assert_eq!(played.sum(Family::Verdicts), 1);
}

#[test]
fn open_watch_counts_as_it_delivers() {
    let mut played = Played::new(SeriesLimits::default());
    let mut watch = played.begin("GET", "/apis/apps/v1/namespaces/a/deployments?watch=1&resourceVersion=7", "operator", "a/robot");
    played.check(Family::RequestsInFlight, &expect![""]);
    played.check(Family::WatchesOpen, &expect![""]);
    played.apply(&mut watch, &responded(200));
    played.check(Family::WatchesOpen, &expect!["operator|a/robot|apps|deployments|namespace 1"]);
    for expected in
        [expect!["operator|a/robot|apps|deployments|WATCH|cache 90"], expect!["operator|a/robot|apps|deployments|WATCH|cache 180"]]
    {
        played.apply(&mut watch, &bytes(Direction::Response, 90));
        played.apply(&mut watch, &events(&[EventType::Added, EventType::Modified, EventType::Modified, EventType::Bookmark]));
        played.check(Family::ResponseBytes, &expected);
    }
    played.check(
        Family::WatchEvents,
        &expect![[r"
            operator|a/robot|apps|deployments|added 2
            operator|a/robot|apps|deployments|modified 4
            operator|a/robot|apps|deployments|bookmark 2"]],
    );
    played.check(Family::Watches, &expect![""]);
    played.end(watch);
    played.check(Family::WatchesOpen, &expect!["operator|a/robot|apps|deployments|namespace 0"]);
    played.check(Family::Watches, &expect!["operator|a/robot|apps|deployments|early 1"]);
    played.check(Family::WatchDuration, &expect!["apps|deployments|early 1"]);
    played.check(Family::RequestDuration, &expect![""]);
}

#[test]
fn refused_watch_has_no_duration() {
    let mut played = Played::new(SeriesLimits::default());
    let mut watch = played.begin("GET", "/api/v1/pods?watch=1", "operator", "");
    played.apply(&mut watch, &responded(403));
    played.apply(&mut watch, &bytes(Direction::Response, 90));
    played.check(Family::ResponseBytes, &expect![""]);
    played.end(watch);
    played.check(Family::ResponseBytes, &expect!["operator|||pods|WATCH|rejected 90"]);
    played.check(Family::Watches, &expect!["operator|||pods|refused 1"]);
    played.check(Family::WatchDuration, &expect![""]);
}

#[test]
fn stream_of_a_log_counts_as_it_comes() {
    let mut played = Played::new(SeriesLimits::default());
    let mut log = played.begin("GET", "/api/v1/namespaces/a/pods/b/log?follow=true", "kubectl/v1.34", "");
    played.apply(&mut log, &responded(200));
    played.apply(&mut log, &bytes(Direction::Response, 5));
    played.check(Family::ResponseBytes, &expect!["kubectl|||pods|GET|etcd 5"]);
    played.end(log);
    played.check(Family::Requests, &expect!["kubectl|||pods|GET|log|resource|200|etcd 1"]);
}

#[test]
fn verbs_and_scopes_are_those_of_the_api_server() {
    for (method, target, expected) in [
        ("HEAD", "/api/v1/namespaces/a/pods/b", "GET|resource"),
        ("GET", "/api/v1/namespaces/a/pods", "LIST|namespace"),
        ("GET", "/api/v1/pods?fieldSelector=metadata.name%3Db", "LIST|resource"),
        ("GET", "/api/v1/watch/pods", "WATCH|cluster"),
        ("POST", "/api/v1/namespaces/a/pods", "POST|resource"),
        ("PUT", "/api/v1/nodes/n/status", "PUT|resource"),
        ("PATCH", "/api/v1/nodes/n", "PATCH|resource"),
        ("DELETE", "/api/v1/nodes/n", "DELETE|resource"),
        ("DELETE", "/api/v1/nodes", "DELETECOLLECTION|cluster"),
        ("OPTIONS", "/api/v1/nodes", "other|cluster"),
        ("GET", "/healthz", "GET|"),
        ("HEAD", "/healthz", "GET|"),
        ("POST", "/graphql", "POST|"),
        ("BREW", "/pot", "other|"),
    ] {
        let mut played = Played::new(SeriesLimits::default());
        let exchange = played.begin(method, target, "", "");
        played.end(exchange);
        let samples: Vec<_> = played.series.samples(Family::Requests).collect();
        let found = ["verb", "scope"].map(|name| samples[0].label(name).unwrap().to_owned()).join("|");
        assert_eq!(found, expected, "{method} {target}");
    }
}

/// A client that mistypes a path puts a name where a resource belongs. The API server answers 404.
#[test]
fn names_in_mistyped_paths_are_no_label_values() {
    let mut played = Played::new(SeriesLimits::default());
    for path in [
        "/api/v1//namespaces/secret/pods",
        "/api/v1/secret/pods/secret",
        "/api/v1/pods/secret/secret",
        "/apis/apps/v1/secret/deployments",
        "/apis/apps//namespaces/secret/deployments/secret",
        "/apis/example.com/v1//widgets/secret/secret",
        "/apis/apps/v1/secret/secret/deployments",
    ] {
        let mut exchange = played.begin("GET", path, "curl", "");
        played.apply(&mut exchange, &responded(404));
        played.end(exchange);
    }
    for row in FAMILIES {
        for sample in played.series.samples(row.family) {
            assert!(!format!("{:?}", sample.labels).contains("secret"), "{}: {:?}", row.name, sample.labels);
        }
    }
    assert_eq!((played.sum(Family::Requests), played.series.folded(Family::Requests)), (7, 0));
}

/// A later release of Kubernetes may have more of them.
#[test]
fn unknown_resources_and_subresources_of_built_in_groups_are_label_values() {
    for (path, expected) in [
        ("/apis/apps/v1/namespaces/a/newsets", "apps|newsets|"),
        ("/api/v1/namespaces/a/pods/b/newsub", "|pods|newsub"),
        ("/api/v1/pods?fieldSelector=metadata.name%3Dpods", "|pods|"),
        ("/api/v1/newthings/b/status", "|newthings|status"),
    ] {
        let mut played = Played::new(SeriesLimits::default());
        let exchange = played.begin("GET", path, "", "");
        played.end(exchange);
        let samples: Vec<_> = played.series.samples(Family::Requests).collect();
        let found = ["group", "resource", "subresource"].map(|name| samples[0].label(name).unwrap().to_owned()).join("|");
        assert_eq!(found, expected, "{path}");
    }
}

#[test]
fn later_label_values_are_counted_as_other() {
    let limits =
        SeriesLimits { clients: 2, resources: 3, subresources: 1, codes: 2, upstreams: 2, sets: 100, ..SeriesLimits::default() };
    let mut played = Played::new(limits);
    for number in 0..5_u16 {
        let target = format!("/apis/g/v1/r{number}/x/s{number}");
        let mut exchange = played.begin("GET", &target, &format!("c{number}/v1 (linux)"), "");
        played.apply(&mut exchange, &responded(200 + number));
        played.end(exchange);
    }
    played.check(
        Family::Requests,
        &expect![[r"
            c0||g|r0|GET|s0|resource|200|etcd 1
            c1||g|r1|GET|other|resource|201|etcd 1
            other|other|g|r2|GET|other|resource|other|etcd 1
            other|other|other|other|GET|other|resource|other|etcd 2"]],
    );
    assert_eq!(played.series.folded(Family::Requests), 4);
    assert_eq!(played.series.folded(Family::RequestsInFlight), 0, "gauges do not count");
    assert_eq!(played.series.folded(Family::RequestDuration), 2);
    // What has a place keeps it.
    let mut exchange = played.begin("GET", "/apis/g/v1/r0/x/s0", "c0/v2 (darwin)", "");
    played.apply(&mut exchange, &responded(200));
    played.end(exchange);
    assert_eq!(played.series.folded(Family::Requests), 4);
    assert_eq!(played.series.samples(Family::Requests).next().unwrap().count(), 2);
}

/// Prometheus keeps only one of several samples with the same labels.
#[test]
fn names_of_strangers_make_no_label_set_of_equal_text() {
    let limits =
        SeriesLimits { clients: 3, resources: 2, subresources: 2, codes: 2, upstreams: 2, sets: 4, ..SeriesLimits::default() };
    let mut played = Played::new(limits);
    let targets = ["/apis/other/v1/other/x/other", "/apis/g/v1/r/x/s", "/apis/g/v1/q/x/t", "/apis/g/v1/p/x/u"];
    for (method, client, account) in
        [("GET", "other", ""), ("BREW", "c", "a/b/c"), ("BREW", "c", "a/b"), ("BREW", "d", ""), ("BREW", "e", ""), ("PUT", "f", "")]
    {
        for target in targets {
            let mut exchange = played.begin(method, target, client, account);
            played.apply(&mut exchange, &bytes(Direction::Request, 1));
            played.apply(&mut exchange, &responded(200));
            played.end(exchange);
        }
    }
    for row in FAMILIES {
        let labels: Vec<String> = played.series.samples(row.family).map(|sample| format!("{:?}", sample.labels)).collect();
        assert_eq!(labels.iter().collect::<BTreeSet<_>>().len(), labels.len(), "{}: {labels:#?}", row.name);
    }
    assert_eq!(played.sum(Family::Requests), 24);
}

#[test]
fn label_sets_of_a_family_are_bounded_and_none_is_lost() {
    let mut played = Played::new(SeriesLimits::default());
    for number in 0..9_000_u64 {
        let (client, resource) = (number % 71, number % 131);
        let mut exchange = played.begin("GET", &format!("/apis/g/v1/r{resource}?watch=1"), &format!("c{client}"), "");
        played.apply(&mut exchange, &responded(200));
        played.apply(&mut exchange, &bytes(Direction::Request, 1));
        played.apply(&mut exchange, &bytes(Direction::Response, 1));
        played.apply(&mut exchange, &events(&[EventType::Added]));
        played.end(exchange);
    }
    let of_exchanges = FAMILIES.iter().filter(|row| row.family <= Family::WatchEvents);
    for row in of_exchanges {
        let labels: BTreeSet<String> = played.series.samples(row.family).map(|sample| format!("{:?}", sample.labels)).collect();
        assert_eq!(labels.len(), played.series.samples(row.family).count(), "{} has a label set twice", row.name);
        assert!(labels.len() <= 2_000, "{} has {} label sets", row.name, labels.len());
        let expected = if matches!(row.kind, Kind::Gauge) { 0 } else { 9_000 };
        let is_of_others = matches!(row.family, Family::RequestDuration | Family::ListItems);
        assert_eq!(played.sum(row.family), if is_of_others { 0 } else { expected }, "{}", row.name);
    }
    assert_eq!(played.series.samples(Family::WatchEvents).count(), 2_000);
    let own = played.series.samples(Family::WatchEvents).filter(|sample| sample.labels.iter().all(|(_, value)| value != "other"));
    let own: u64 = own.map(|sample| sample.count()).sum();
    assert_eq!(own + played.series.folded(Family::WatchEvents), 9_000);
}

#[test]
fn less_memory_leaves_fewer_label_sets() {
    let default = SeriesLimits::default();
    assert_eq!(default.within(128 << 20), default);
    let sets = [4 << 20, 2 << 20, 1 << 20, 1 << 10, 0].map(|memory| default.within(memory).sets);
    assert!(sets.is_sorted_by(|more, fewer| more > fewer || *more == 0), "{sets:?}");
    // Without room, all requests share one label set.
    let mut played = Played::new(default.within(0));
    let exchange = played.begin("GET", "/api/v1/pods", "operator", "");
    played.end(exchange);
    played.check(Family::Requests, &expect!["other|other|other|other|other|other|other|other|other 1"]);
}

#[test]
fn long_names_are_cut_and_remain_text() {
    let mut played = Played::new(SeriesLimits::default());
    let exchange = played.begin("GET", &format!("/apis/g/v1/{}", "ä".repeat(300)), &"ö".repeat(300), "");
    played.end(exchange);
    let samples: Vec<_> = played.series.samples(Family::Requests).collect();
    assert_eq!(samples[0].label("client").unwrap(), "ö".repeat(128));
    assert_eq!(samples[0].label("resource").unwrap(), "ä".repeat(128));
}

#[test]
fn verdicts_begin_with_zeros() {
    let series = Series::new(&SeriesLimits::default());
    assert_eq!(series.samples(Family::Verdicts).count(), 3 * all_rules().count());
    assert!(series.samples(Family::Verdicts).all(|sample| sample.count() == 0 && sample.labels.len() == 2));
    assert_eq!(series.samples(Family::Requests).count(), 0);
    assert_eq!(series.folded(Family::Verdicts), 0);
}

#[test]
fn names_follow_the_conventions() {
    let names: BTreeSet<&str> = FAMILIES.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), FAMILIES.len());
    let is_word = |name: &str| name.chars().all(|character| matches!(character, 'a'..='z' | '_'));
    for row in FAMILIES {
        let has_suffix = match row.kind {
            Kind::Counter => row.name.ends_with("_total"),
            Kind::Gauge => !row.name.ends_with("_total"),
            Kind::Histogram { bounds } => {
                assert!(bounds.is_sorted() && bounds.len() < Histogram::default().buckets().len(), "{}", row.name);
                row.name.ends_with("_seconds")
            }
        };
        // Names of process metrics are those of all exporters.
        let has_prefix = ["watchtap_", "process_"].iter().any(|prefix| row.name.starts_with(prefix));
        assert!(has_suffix && has_prefix && is_word(row.name), "{}", row.name);
        assert!(!row.help.ends_with('.'), "{}", row.help);
        assert_eq!(row.unit() == Unit::Seconds, row.name.contains("_seconds"), "{}", row.name);
        let labels: BTreeSet<&str> = row.labels.iter().flat_map(|label| LABELS[*label as usize].names).copied().collect();
        assert_eq!(labels.len(), row.labels.iter().map(|label| LABELS[*label as usize].names.len()).sum::<usize>());
    }
    for row in LABELS {
        assert!(row.names.iter().all(|name| is_word(name)), "{:?}", row.names);
        if let Values::Words(words) = row.values {
            assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len(), "{words:?}");
        }
    }
    assert!(all_rules().count() < usize::from(u8::MAX));
}

#[test]
fn selected_labels_name_the_pod_or_the_unit_of_a_client() {
    let pod = Pod { namespace: "default".to_owned(), name: "web-0".to_owned(), workload: Workload::of_pod("web-0") };
    let nameless = Container::nameless("c".to_owned(), "d".to_owned());
    let named = Container { pod: Some(pod), name: Some("app".to_owned()), ..nameless.clone() };
    let process = Process::new(7, 1, "agent".to_owned());
    let in_container = |container: Container| process.clone().owned_by(Some(CgroupOwner::Container(container)));
    let (nameless, named) = (in_container(nameless), in_container(named));
    let in_session = process.clone().owned_by(Some(CgroupOwner::Unit("session-4.scope".to_owned())));
    let of_the_host = process.clone().owned_by(Some(CgroupOwner::Unit("kubelet.service".to_owned())));
    for (selected, client, expected) in [
        (&[][..], &named, "client=agent service_account="),
        (
            &[ClientLabel::WorkloadName, ClientLabel::Namespace],
            &named,
            "client=agent service_account= client_namespace=default client_workload=web",
        ),
        (
            &ClientLabel::ALL,
            &named,
            "client=agent service_account= client_namespace=default client_pod=web-0 client_container=app client_workload=web \
             client_unit=",
        ),
        (
            &[ClientLabel::PodName, ClientLabel::ContainerName],
            &nameless,
            "client=agent service_account= client_pod= client_container=",
        ),
        (
            &[ClientLabel::Namespace, ClientLabel::UnitName],
            &of_the_host,
            "client=agent service_account= client_namespace= client_unit=kubelet.service",
        ),
        (&[ClientLabel::UnitName], &in_session, "client=agent service_account= client_unit=no service"),
    ] {
        let limits = SeriesLimits { clients: 1, client_labels: ClientLabels::new(selected), ..SeriesLimits::default() };
        let mut played = Played::new(limits);
        played.process = Some(client.clone());
        for agent in ["agent", "second"] {
            let exchange = played.begin("GET", "/api/v1/pods", agent, "");
            played.end(exchange);
        }
        let samples: Vec<_> = played.series.samples(Family::Requests).collect();
        let of_client = |sample: &Sample<'_>| -> Vec<String> {
            let labels = sample.labels.iter().filter(|(name, _)| name.starts_with("client") || *name == "service_account");
            labels.map(|(name, value)| format!("{name}={value}")).collect()
        };
        assert_eq!(of_client(&samples[0]).join(" "), expected);
        let others = of_client(&samples[1]);
        assert!(others.len() == 2 + selected.len() && others.iter().all(|label| label.ends_with("=other")), "{others:?}");
    }
}

/// A store, and a clock for what is played.
struct Played {
    process: Option<Process>,
    series: Series,
    now: Timestamp,
    last: u64,
}

impl Played {
    fn new(limits: SeriesLimits) -> Self {
        Self { process: None, series: Series::new(&limits), now: Timestamp::from_nanos(1), last: 0 }
    }

    /// A request to a server of 1.34, by the `account` `NAMESPACE/NAME`.
    fn begin(&mut self, method: &str, target: &str, user_agent: &str, account: &str) -> Exchange {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let options = ListOptions::parse(query);
        let info = RequestInfo::parse(method, path, &options, "");
        let profile = ServerProfile::of_version("v1.34.4".parse().unwrap(), Basis::Flag);
        let cache = CacheState::Ready;
        let verdict = route(&Question { info: &info, options: &options, profile: &profile, cache, history: None, now: self.now });
        let identity = account
            .split_once('/')
            .map(|(namespace, name)| Identity::ServiceAccount { namespace: namespace.to_owned(), name: name.to_owned() });
        let request = RequestLine {
            method: Some(method.to_owned()),
            info: Some(info),
            options,
            user_agent: Some(user_agent.to_owned()),
            identity,
            ..RequestLine::default()
        };
        self.last += 1;
        let id = ExchangeId { connection: ConnectionId(1), stream: StreamId(self.last) };
        let mut exchange = Exchange::begin(id, self.now, UpstreamName::default(), request, verdict);
        self.series.begin(&mut exchange, self.process.as_ref());
        exchange
    }

    fn apply(&mut self, exchange: &mut Exchange, observed: &ExchangeObservation) {
        self.now = self.now.plus(Duration::from_secs(1));
        exchange.apply(self.now, observed);
        self.series.advance(exchange, observed);
    }

    fn end(&mut self, mut exchange: Exchange) {
        exchange.apply(self.now.plus(Duration::from_secs(1)), &ExchangeObservation::Ended { end: ExchangeEnd::Complete });
        self.series.end(&mut exchange);
    }

    fn sum(&self, family: Family) -> u64 {
        self.series.samples(family).map(|sample| sample.count()).sum()
    }

    /// Compares all samples of a family, as `VALUE|VALUE COUNT`.
    #[track_caller]
    fn check(&self, family: Family, expected: &Expect) {
        let lines = self.series.samples(family).map(|sample| {
            let values: Vec<&str> = sample.labels.iter().map(|(_, value)| &**value).collect();
            format!("{} {}", values.join("|"), sample.count())
        });
        expected.assert_eq(&lines.collect::<Vec<_>>().join("\n"));
    }
}

fn responded(status: u16) -> ExchangeObservation {
    ExchangeObservation::Responded { response: Box::new(ResponseLine { status: Some(status), ..ResponseLine::default() }) }
}

fn bytes(direction: Direction, bytes: u64) -> ExchangeObservation {
    ExchangeObservation::BodyBytes { direction, bytes }
}

fn items(count: usize) -> ExchangeObservation {
    ExchangeObservation::BodyRead { body: Body::Items(vec![ObjectRef::default(); count]) }
}

fn events(types: &[EventType]) -> ExchangeObservation {
    let frames = types.iter().map(|event_type| WatchFrame {
        event_type: *event_type,
        object: ObjectRef::default(),
        initial_events_end: false,
        status: None,
        bytes: 1,
    });
    ExchangeObservation::BodyRead { body: Body::Events(frames.collect()) }
}
