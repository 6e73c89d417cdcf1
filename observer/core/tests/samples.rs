//! The samples of a story in which every metric counts.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap")]

use std::fmt::Write as _;
use std::time::Duration;

use expect_test::{Expect, expect};
use observer_core::http::{Direction, Loss, StreamId};
use observer_core::observation::{
    Blockage, BodyNotRead, ConnectionId, ConnectionObservation, ExchangeId, ExchangeObservation, ListenerState, Observation,
    Plaintext, ProbeMissed, RunObservation, Subject, TapObservation, UpstreamName, UpstreamObservation,
};
use observer_core::observer::{Limits, Observer};
use observer_core::series::{
    Build, FAMILIES, Family, Kind, ProbeAddresses, ProbeFiles, ProcessNumbers, Sample, Samples, ShellNumbers, TapWord, Value,
};
use observer_core::time::Timestamp;

/// The connections `a` and `m` of a script.
const FIRST: u64 = b'a' as u64;
const LAST: u64 = b'm' as u64;

/// An informer that stalls, writes, falls back from a streaming list and gets an older revision; and twelve that expire at once.
fn story() -> String {
    let mut script = "
        0s server v1.34.4
        0s a connects client=operator/v1 as=a/robot
        1s a1 GET /api/v1/pods?limit=500&resourceVersion=0
        1s a1 bytes 700
        1s a1 whole rv=10 x@5
        2s a2 GET /api/v1/pods?watch=1&resourceVersion=10&allowWatchBookmarks=true&timeoutSeconds=400
        2s a2 opens
        3s a2 BOOKMARK @10
        4s a2 blocked
        6500ms a2 unblocked
        7s a3 PATCH /api/v1/namespaces/default/pods/x
        7s a3 written x@11
        7250ms a2 MODIFIED x@11
        8s a2 bytes 90
        9s a2 ends
        9s a4 GET /api/v1/pods?watch=1&resourceVersion=11&allowWatchBookmarks=true&timeoutSeconds=400
        9s a4 opens
        20s a4 ERROR 500 InternalError
        20s a4 ends
        21s a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=11&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=1
        21s a5 refused 422 Invalid
        22s a6 GET /api/v1/pods?resourceVersion=11
        22s a6 bytes 70
        23s a6 whole rv=7 x@5
        24s a7 GET /api/v1/pods?watch=1&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=400
        24s a7 opens
        25s a7 BOOKMARK @8
        26s a8 GET /api/v1/nodes?limit=500
        27s a goaway
        95s a7 blocked
    "
    .to_owned();
    for (index, client) in ('b'..='m').enumerate() {
        let _infallible = writeln!(
            script,
            "30s {client} connects client=fleet/v{index}
             30s {client}1 GET /apis/apps/v1/deployments?limit=500&resourceVersion=0
             30s {client}1 whole rv=10 x@5 y@6
             31s {client}2 GET /apis/apps/v1/deployments?watch=1&resourceVersion=10&allowWatchBookmarks=true&timeoutSeconds=400
             31s {client}2 opens
             92s {client}2 ERROR 410 Expired
             92s {client}2 ends
             92s {client}3 GET /apis/apps/v1/deployments?resourceVersion=10
             92s {client}3 bytes 100
             92s {client}3 whole rv=20 x@5 y@16
             92s {client}4 GET /apis/apps/v1/deployments?watch=1&resourceVersion=20&allowWatchBookmarks=true&timeoutSeconds=400
             92s {client}4 opens"
        );
    }
    script
}

/// Observations for which the script has no words, at its end.
fn losses() -> Vec<Subject> {
    let connection = |observed| Subject::Connection(ConnectionId(FIRST), observed);
    let exchange = |observed| Subject::Exchange(ExchangeId { connection: ConnectionId(FIRST), stream: StreamId(8) }, observed);
    let refusing = UpstreamObservation::Listener { state: ListenerState::Refusing };
    let unread = ExchangeObservation::BodyNotRead { reason: BodyNotRead::MediaType("text/html".to_owned()) };
    let missed = ProbeMissed {
        records: 1,
        bytes: 2,
        unreadable: 3,
        beyond_largest_call: 4,
        calls: 5,
        connections: 6,
        sockets: 7,
        lifetimes: 8,
        unused_fields: 9,
        contradicted: 10,
        unplaced: 11,
        calls_without_room: 12,
    };
    vec![
        Subject::Upstream(UpstreamName("b.example.com:6443".to_owned()), refusing),
        exchange(unread),
        exchange(ExchangeObservation::BodyBytes { direction: Direction::Request, bytes: 7 }),
        connection(ConnectionObservation::Gap { stream: None, direction: Direction::Response, bytes: 100 }),
        connection(ConnectionObservation::DecodingStopped { direction: Direction::Request, loss: Loss::Malformed }),
        Subject::Tap(TapObservation::ConnectFailed { why: "timed out".to_owned() }),
        Subject::Tap(TapObservation::ResetInsteadOfRefused { connections: 2 }),
        Subject::Tap(TapObservation::ProbeMissed { missed }),
        Subject::Run(RunObservation::NotExported { records: 4 }),
        Subject::Connection(
            ConnectionId(LAST),
            ConnectionObservation::Closed {
                forwarded: Plaintext { request: 10, response: 200 },
                observed: Plaintext { request: 10, response: 100 },
            },
        ),
    ]
}

const SHELL: ShellNumbers = ShellNumbers {
    build: None,
    observing_queue_bytes: Some(70),
    probe_files: Some(ProbeFiles { all: 3, part: 2, none: 1 }),
    probe_addresses: Some(ProbeAddresses { current: 4, former: 5, no_room: 6, slice_read: 7, slice_refused: 8, slice_failed: 9 }),
    process: Some(ProcessNumbers {
        cpu_us: 1_500_000,
        started_us: 1_769_860_800_000_000,
        resident_bytes: 9,
        virtual_bytes: 10,
        open_files: 11,
        most_files: 12,
    }),
};

fn played() -> Samples {
    let build = Build { version: "0.1.0".to_owned(), revision: String::new(), tap: TapWord::Proxy };
    observer().samples().with(&ShellNumbers { build: Some(build), ..SHELL })
}

fn observer() -> Observer {
    let mut observer = Observer::new(Limits::default());
    let mut last = Timestamp::default();
    for observation in observer_script::observations(&story()) {
        last = observation.at;
        observer.observe(observation, &mut |_| {});
    }
    let at = last.plus(Duration::from_secs(3));
    for subject in losses() {
        observer.observe(Observation { at, subject }, &mut |_| {});
    }
    observer
}

#[test]
fn every_family_counts() {
    let samples = played();
    let is_zero = |family: Family| samples.of(family).all(|sample| sample.count() == 0);
    let zero: Vec<&str> = FAMILIES.iter().filter(|row| is_zero(row.family)).map(|row| row.name).collect();
    // Label sets are folded in other tests. The last family is counted where a page is written.
    assert_eq!(zero, ["watchtap_label_sets_folded_total", "watchtap_families_left_out"]);
}

#[test]
fn numbers_of_reflectors_and_storms_have_their_labels() {
    let samples = played();
    let of = |families: &[Family]| lines(&samples, families);
    check(
        &of(&[Family::Reflectors, Family::ReflectorObjects, Family::ReflectorBehind]),
        &expect![[r"
            reflectors{operator|a/robot||pods|stalled} 1
            reflectors{operator|a/robot||nodes|listing} 1
            reflectors{fleet||apps|deployments|watching} 12
            reflector_objects{operator|a/robot||pods} 1
            reflector_objects{fleet||apps|deployments} 22
            reflector_behind_revisions{operator|a/robot||pods} 3
        "]],
    );
    check(
        &of(&[Family::InitialLists, Family::Relists, Family::RelistItems, Family::RelistBytes]),
        &expect![[r"
        initial_lists_total{operator|a/robot||pods|first} 1
        initial_lists_total{fleet||apps|deployments|first} 12
        relists_total{operator|a/robot||pods|cluster|watch-error} 1
        relists_total{fleet||apps|deployments|cluster|expired/cache-reset} 12
        relist_items_total{operator|a/robot||pods} 1
        relist_items_total{fleet||apps|deployments} 24
        relist_bytes_total{operator|a/robot||pods} 70
        relist_bytes_total{fleet||apps|deployments} 1200
    "]],
    );
    check(
        &of(&[Family::Resumes, Family::StreamingListFallbacks, Family::RevisionsWentBack]),
        &expect![[r"
        resumes_total{operator|a/robot||pods} 1
        streaming_list_fallbacks_total{operator|a/robot||pods} 1
        revisions_went_back_total{operator|a/robot||pods} 1
    "]],
    );
    check(
        &of(&[Family::Stalls, Family::StallSeconds, Family::WritePropagation]),
        &expect![[r"
        stalls_total{operator|a/robot||pods|stream_window} 2
        stall_seconds_total{operator|a/robot||pods|stream_window} 5500000
        write_propagation_seconds{operator|a/robot||pods} 1 in 250000
    "]],
    );
    check(
        &of(&[Family::Storms, Family::StormsActive, Family::StormMembers, Family::StormRelists]),
        &expect![[r"
        storms_total{api-server-restart|clients} 1
        storms_active{} 1
        storm_members{} 12
        storm_relists_total{api-server-restart} 12
    "]],
    );
    check(
        &of(&[Family::Findings, Family::ReflectorFindings]),
        &expect![[r"
        reflector_findings{operator|a/robot||pods|slow-reader} 1
        findings{slow-reader} 1
    "]],
    );
}

#[test]
fn numbers_of_servers_losses_and_the_shell_have_their_labels() {
    let samples = played();
    let of = |families: &[Family]| lines(&samples, families);
    check(
        &of(&[Family::UpstreamInfo, Family::UpstreamRefusing, Family::ConnectionsOpen]),
        &expect![[r"
        upstream_info{|v1.34.4|version-endpoint} 1
        upstream_refusing{b.example.com:6443} 1
        connections_open{h2} 12
    "]],
    );
    check(
        &of(&[Family::GoAways, Family::ForwardedBytes, Family::MissedBytes, Family::Missed]),
        &expect![[r"
        goaways_total{server} 1
        forwarded_bytes_total{request} 10
        forwarded_bytes_total{response} 200
        missed_bytes_total{} 100
        missed_total{gap} 1
        missed_total{dark} 1
        missed_total{otlp} 4
    "]],
    );
    check(
        &of(&[Family::ProbeLostRecords, Family::ProbeLostBytes, Family::ProbeLostCalls, Family::ProbeLostConnections]),
        &expect![[r"
            probe_lost_records_total{ring} 1
            probe_lost_records_total{unreadable} 3
            probe_lost_records_total{lifetime} 8
            probe_lost_records_total{unmatched_field} 9
            probe_lost_bytes_total{ring} 2
            probe_lost_bytes_total{beyond_largest_call} 4
            probe_lost_bytes_total{unplaced} 11
            probe_lost_calls_total{no_beginning} 5
            probe_lost_calls_total{no_room} 12
            probe_lost_calls_total{other_socket} 10
            probe_lost_connections_total{no_room} 6
            probe_lost_connections_total{no_socket} 7
        "]],
    );
    check(
        &of(&[
            Family::BuildInfo,
            Family::ProbeFiles,
            Family::ProbeAddresses,
            Family::ProbeSliceRequests,
            Family::ProcessCpu,
            Family::ProcessStart,
        ]),
        &expect![[r"
        probe_files{all} 3
        probe_files{part} 2
        probe_files{none} 1
        probe_addresses{current} 4
        probe_addresses{former} 5
        probe_addresses{no_room} 6
        probe_endpoint_slice_requests_total{read} 7
        probe_endpoint_slice_requests_total{refused} 8
        probe_endpoint_slice_requests_total{failed} 9
        build_info{0.1.0||proxy} 1
        process_cpu_seconds_total{} 1500000
        process_start_time_seconds{} 1769860800000000
    "]],
    );
}

#[test]
fn families_of_the_shell_are_absent_without_it() {
    let samples = Observer::new(Limits::default()).samples();
    for family in [Family::BuildInfo, Family::ObservingQueueBytes, Family::ProbeFiles, Family::ProcessCpu] {
        assert_eq!(samples.of(family).count(), 0, "{family:?}");
    }
    assert_eq!(samples.of(Family::ConnectFailures).count(), 1);
}

/// A tick of another thread was later than the client that reads again.
#[test]
fn stall_seconds_do_not_fall_when_observations_are_out_of_order() {
    let mut script = observer_script::observations(&story()).into_iter().take_while(|one| one.at < at(6_500));
    let mut observer = Observer::new(Limits::default());
    script.by_ref().for_each(|observation| observer.observe(observation, &mut |_| {}));
    let unblocked = ConnectionObservation::Unblocked { stream: Some(StreamId(2)), by: Blockage::StreamWindow };
    let mut seconds = Vec::new();
    for (milliseconds, subject) in [
        (5_100, Subject::Run(RunObservation::Tick)),
        (4_900, Subject::Connection(ConnectionId(FIRST), unblocked)),
        (9_000, Subject::Run(RunObservation::Tick)),
    ] {
        observer.observe(Observation { at: at(milliseconds), subject }, &mut |_| {});
        seconds.push(observer.samples().of(Family::StallSeconds).map(|sample| sample.count()).sum::<u64>());
    }
    assert_eq!(seconds, [1_100_000, 1_100_000, 1_100_000]);
}

/// Gauges of moments follow a wall clock that was set during the run: Prometheus compares them with its own clock.
#[test]
fn moments_are_by_the_wall_clock() {
    let of = |samples: &Samples, family| samples.of(family).map(|sample| sample.count()).next().unwrap();
    let hour = 3_600_000_000;
    let ahead = i64::try_from(hour * 1_000).unwrap();
    let (mut observer, mut set) = (Observer::new(Limits::default()), Observer::new(Limits::default()));
    for observation in observer_script::observations(&story()).into_iter().take_while(|one| one.at < at(4_000)) {
        set.observe(Observation { at: observation.at.with_wall_ahead(ahead), ..observation.clone() }, &mut |_| {});
        observer.observe(observation, &mut |_| {});
    }
    let (samples, set) = (observer.samples(), set.samples());
    for family in [Family::ReflectorLastBookmark, Family::ReflectorStateSince] {
        assert_eq!(of(&set, family), of(&samples, family) + hour, "{family:?}");
    }
}

/// The time of a script, in milliseconds from its beginning.
fn at(milliseconds: u64) -> Timestamp {
    observer_script::observations("0s server v1.34.4")[0].at.plus(Duration::from_millis(milliseconds))
}

#[test]
fn muted_findings_do_not_count() {
    let observer = observer();
    let findings =
        |muted: &[String]| observer.samples_without(muted).of(Family::Findings).map(|sample| sample.count()).sum::<u64>();
    let all = findings(&[]);
    let kinds: Vec<String> =
        observer.samples().of(Family::Findings).filter_map(|sample| Some(format!("{}:", sample.label("kind")?))).collect();
    assert!(all > 0);
    assert_eq!(findings(&kinds), 0);
}

/// All samples of these families that are not zero, as `NAME{VALUE|VALUE} NUMBER`; of a histogram, its count and sum.
fn lines(samples: &Samples, families: &[Family]) -> String {
    let all = samples.families().filter(|(row, _)| families.contains(&row.family));
    let lines = all.flat_map(|(row, samples)| {
        let is_gauge = row.kind == Kind::Gauge;
        samples
            .filter(move |sample| sample.count() > 0 || (is_gauge && row.labels.is_empty()))
            .map(|sample| line(row.name, &sample))
    });
    lines.map(|line| line + "\n").collect()
}

fn line(name: &str, sample: &Sample<'_>) -> String {
    let values: Vec<&str> = sample.labels.iter().map(|(_, value)| &**value).collect();
    let name = name.trim_start_matches("watchtap_");
    match sample.value {
        Value::Count(count) => format!("{name}{{{}}} {count}", values.join("|")),
        Value::Histogram(histogram) => format!("{name}{{{}}} {} in {}", values.join("|"), histogram.count(), histogram.sum_us()),
    }
}

#[track_caller]
fn check(lines: &str, expected: &Expect) {
    expected.assert_eq(lines);
}
