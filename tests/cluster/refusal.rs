//! Tests that the listener of `watchtap exec` refuses connections while the API server does, with real clients and a real server
//! that is stopped.
//!
//! Three situations, each with SIGTERM and with SIGKILL. In the first, clients connect continuously. In the second, one open
//! connection gets the first sign of the shutdown, and no client connects until the port must refuse. In the third, there is no
//! connection, so the proxy gets no sign.
//!
//! The test's own dials, every 2 ms, show when upstream refuses. A client of the tap is `Served` after its TLS handshake, `Refused`
//! at TCP, or `Reset` after TCP accepted it; see [`Outcome`].

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use observer_tests::{Cluster, ExecSession, Finished, Options, Signal};
use socket2::{Domain, Socket, Type};

use super::connects::{Connect, Outcome, Paced};
use super::direct_dials::{DirectDials, RefusalSeen};
use super::h2_watch::{H2Watch, Sign};

/// Maximum time after the first sign.
const REFUSES_WITHIN: Duration = Duration::from_millis(300);
/// Maximum time after upstream's first accept: one probe interval of 200 ms, and 100 ms.
const ACCEPTS_WITHIN: Duration = Duration::from_millis(300);
/// Time between the connects of clients.
const PACE: Duration = Duration::from_millis(5);
/// Number of refused clients before the API server restarts.
const REFUSED_BEFORE_START: usize = 150;
/// Number of clients that connect after the port must serve again.
const SERVED: usize = 20;
/// The tap's limit for both handshakes.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
/// Number of simultaneous clients before the tap has a sign that upstream refuses.
const BURST: usize = 20;
/// A client that connects no earlier than this before the first refused one may be in its TCP handshake when the port closes.
const MAY_BE_CUT: Duration = PACE.saturating_mul(2);
/// Time between the attempts to bind the port, as another program would.
const STRANGER_PACE: Duration = Duration::from_millis(25);
/// Maximum time from a signal to the first sign of the shutdown.
const SIGN_WITHIN: Duration = Duration::from_secs(10);

/// The clients' connections when the API server stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Situation {
    /// A watch is open, and clients connect continuously.
    Steady,
    /// A watch is open; after its first sign no client connects until the port must refuse.
    Quiet,
    /// The last connection has ended; clients connect as soon as upstream refuses.
    Unconnected,
}

/// The record of one stop and start of the API server.
struct Seen {
    /// The earliest time at which the proxy could know that upstream refuses.
    sign: Instant,
    upstream: RefusalSeen,
    connects: Vec<Connect>,
    /// The result of each attempt to bind the port. All must be `None`, which means that the attempt failed.
    binds: Vec<Option<&'static str>>,
    finished: Finished,
}

#[test]
fn steady_clients_are_refused_after_sigterm() {
    check(Situation::Steady, Signal::Terminate);
}

#[test]
fn steady_clients_are_refused_after_sigkill() {
    check(Situation::Steady, Signal::Kill);
}

#[test]
fn goaway_alone_makes_the_port_refuse_connections() {
    let seen = check(Situation::Quiet, Signal::Terminate);
    assert_eq!(resets(&seen), 0, "the port refuses before anybody connects");
    let goaway = seen.finished.events.iter().find(|event| event["event"] == "go-away").expect("a GOAWAY is among the events");
    assert_eq!(goaway["by"], "response");
}

#[test]
fn closed_connection_alone_makes_the_port_refuse_connections() {
    let seen = check(Situation::Quiet, Signal::Kill);
    assert_eq!(resets(&seen), 0, "the port refuses before anybody connects");
}

#[test]
fn first_unconnected_clients_are_reset_and_counted_after_sigterm() {
    check(Situation::Unconnected, Signal::Terminate);
}

#[test]
fn first_unconnected_clients_are_reset_and_counted_after_sigkill() {
    check(Situation::Unconnected, Signal::Kill);
}

#[track_caller]
fn check(situation: Situation, signal: Signal) -> Seen {
    let seen = with_cluster(|cluster| stop_and_start(cluster, situation, signal));
    println!("{situation:?} {signal:?}: {}", summary(&seen));
    check_refused(&seen);
    check_accepted(&seen);
    check_resets(&seen);
    let bound: Vec<_> = seen.binds.iter().flatten().collect();
    assert!(bound.is_empty() && seen.binds.len() >= 20, "a stranger took the port: {bound:?}");
    check_events(&seen.finished);
    seen
}

/// Checks that each connect is refused, from 300 ms after the first sign until upstream accepts. Before that time, a connect may
/// also be reset.
#[track_caller]
fn check_refused(seen: &Seen) {
    let from = seen.sign + REFUSES_WITHIN;
    let must: Vec<&Connect> = while_refusing(seen).filter(|connect| connect.begun >= from).collect();
    assert!(must.len() >= REFUSED_BEFORE_START / 2, "only {} connects while the port must refuse", must.len());
    let others: Vec<_> = must.iter().filter(|connect| connect.outcome != Outcome::Refused).collect();
    assert!(others.is_empty(), "not refused: {others:#?}");
    let odd: Vec<_> =
        while_refusing(seen).filter(|connect| matches!(connect.outcome, Outcome::Ended | Outcome::Failed(_))).collect();
    assert!(odd.is_empty(), "neither refused nor reset: {odd:#?}");
}

/// Checks that connects succeed from 300 ms after upstream accepts. The last one, after upstream is ready, must complete its
/// handshake.
///
/// A server accepts TCP connections long before it completes handshakes. On a busy machine, the time in between exceeds the proxy's
/// limit for handshakes. A client whose TCP connection was accepted then counts as a success.
#[track_caller]
fn check_accepted(seen: &Seen) {
    let accepted = seen.upstream.accepted.ended;
    let must: Vec<&Connect> = seen.connects.iter().filter(|connect| connect.begun >= accepted + ACCEPTS_WITHIN).collect();
    assert!(must.len() > SERVED, "only {} connects when the port must accept", must.len());
    let others: Vec<_> = must.iter().filter(|connect| connect.outcome != Outcome::Served && !timed_out(connect)).collect();
    assert!(others.is_empty(), "not served: {others:#?}");
    let reset = |connect: &&Connect| connect.begun >= accepted && connect.outcome == Outcome::Reset && !timed_out(connect);
    assert_eq!(seen.connects.iter().find(reset).map(|connect| connect.begun), None, "reset although upstream accepts");
    assert_eq!(seen.connects.last().map(|connect| connect.outcome), Some(Outcome::Served), "upstream is ready");
}

/// Checks the counter of resets: it includes exactly the clients that the proxy reset and that upstream would have refused.
///
/// Two kinds of clients are ambiguous. Those that connected before upstream is known to refuse: a reset may be upstream's own, in
/// the middle of a handshake. And those whose TCP handshake the port's close may have cut: the kernel resets them, and the proxy
/// never sees them.
#[track_caller]
fn check_resets(seen: &Seen) {
    let counted = seen.finished.report["missed"]["reset_instead_of_refused"].as_u64().expect("the report has the counter");
    let refused = seen.connects.iter().filter(|connect| connect.outcome == Outcome::Refused).map(|connect| connect.begun).min();
    let cut_from = refused.and_then(|refused| refused.checked_sub(MAY_BE_CUT)).expect("a client was refused");
    let certain =
        while_refusing(seen).filter(|connect| connect.outcome == Outcome::Reset && connect.begun < cut_from).count() as u64;
    let all = seen.connects.iter().filter(|connect| connect.outcome == Outcome::Reset && !timed_out(connect)).count() as u64;
    assert!(
        (certain..=all).contains(&counted),
        "{counted} counted; {all} resets, {certain} of them certainly the proxy's, where upstream refused"
    );
}

/// The number of resets of clients that upstream would have refused.
fn resets(seen: &Seen) -> u64 {
    while_refusing(seen).filter(|connect| connect.outcome == Outcome::Reset).count() as u64
}

/// Connects during which upstream certainly refused, from start to end.
fn while_refusing(seen: &Seen) -> impl Iterator<Item = &Connect> {
    let (first, last) = (seen.upstream.first.ended, seen.upstream.last.begun);
    seen.connects.iter().filter(move |connect| connect.begun >= first && connect.ended <= last)
}

fn timed_out(connect: &Connect) -> bool {
    connect.outcome != Outcome::Refused && connect.ended - connect.begun >= HANDSHAKE_LIMIT
}

#[track_caller]
fn check_events(finished: &Finished) {
    let states = finished.events.iter().filter(|event| event["event"] == "listener").map(|event| event["state"].as_str());
    let states: Vec<&str> = states.flatten().skip_while(|state| *state == "listening").collect();
    assert_eq!(states, ["refusing", "listening"]);
}

fn stop_and_start(cluster: &mut Cluster, situation: Situation, signal: Signal) -> Seen {
    let session = ExecSession::start(&cluster.kubeconfig_token().unwrap(), &[]).unwrap();
    let (address, tls) = (session.address().unwrap(), session.tls(&[b"h2"]).unwrap());
    let watch = || H2Watch::open(address, &tls, cluster.admin_token(), "/api/v1/podtemplates?watch=true");
    let watch = (situation != Situation::Unconnected).then(watch);
    let connect = move || Connect::try_one(address, &tls);
    let strangers = Paced::start(STRANGER_PACE, move || bound_by_a_stranger(address));
    let steady = (situation == Situation::Steady).then(|| {
        let mut connects = Paced::start(PACE, connect.clone());
        connects.until(|all| all.len() >= 10);
        connects
    });
    if situation == Situation::Unconnected {
        assert_eq!(connect().outcome, Outcome::Served);
    }

    let direct = DirectDials::start(SocketAddr::from((Ipv4Addr::LOCALHOST, cluster.port())));
    cluster.stop_api_server(signal).unwrap();
    let heard = watch.as_ref().map(|watch| watch.first_sign(SIGN_WITHIN));
    if situation == Situation::Quiet {
        let (sign, at) = heard.unwrap();
        assert_eq!(sign, if signal == Signal::Terminate { Sign::GoAway } else { Sign::End });
        wait_until(at + REFUSES_WITHIN);
    }
    direct.refused();
    // These clients connect simultaneously, while upstream refuses and the proxy has no sign of that. Each is reset and counted.
    let burst = if situation == Situation::Unconnected { BURST } else { 0 };
    let burst: Vec<_> = (0..burst).map(|_| thread::spawn(connect.clone())).collect();
    let mut connects = steady.unwrap_or_else(|| Paced::start(PACE, connect.clone()));
    cluster.wait_stopped().unwrap();
    connects.until(|all| all.iter().filter(|connect| connect.outcome == Outcome::Refused).count() >= REFUSED_BEFORE_START);

    let (upstream, mut connects) = start(cluster, direct, connects);
    connects.extend(burst.into_iter().map(|connect| connect.join().unwrap()));
    connects.push(connect());
    let binds = strangers.finish_after(0);
    let finished = session.finish().unwrap();
    let sign = first_sign(&connects, upstream, heard.map(|(_, at)| at));
    Seen { sign, upstream, connects, binds, finished }
}

/// Starts the API server, and waits until enough clients that must be served have connected.
fn start(cluster: &mut Cluster, direct: DirectDials, connects: Paced<Connect>) -> (RefusalSeen, Vec<Connect>) {
    thread::scope(|scope| {
        let starting = scope.spawn(|| cluster.start_api_server());
        let upstream = direct.accepted();
        wait_until(upstream.accepted.ended + ACCEPTS_WITHIN);
        let connects = connects.finish_after(SERVED);
        starting.join().unwrap().unwrap();
        (upstream, connects)
    })
}

fn wait_until(at: Instant) {
    thread::sleep(at.saturating_duration_since(Instant::now()));
}

/// The time of the proxy's first sign: on an open connection, or by a failed dial. The first failed dial is visible as the first
/// client that was not served although it started while upstream refused.
fn first_sign(connects: &[Connect], upstream: RefusalSeen, heard: Option<Instant>) -> Instant {
    let not_served = connects.iter().filter(|connect| connect.begun >= upstream.first.ended && connect.outcome != Outcome::Served);
    not_served.map(|connect| connect.ended).chain(heard).min().expect("a client that was not served")
}

/// Tries to bind the port as another program would: with `SO_REUSEADDR`, which Go, Rust and others set by default, and without it.
fn bound_by_a_stranger(address: SocketAddr) -> Option<&'static str> {
    let everywhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port()));
    let bind = |address: SocketAddr, reuse: bool| {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_reuse_address(reuse).unwrap();
        socket.bind(&address.into()).is_ok()
    };
    let tries = [
        (address, false, "plain"),
        (address, true, "SO_REUSEADDR"),
        (everywhere, false, "any"),
        (everywhere, true, "any, SO_REUSEADDR"),
    ];
    tries.into_iter().find(|(address, reuse, _)| bind(*address, *reuse)).map(|(_, _, name)| name)
}

/// The results in milliseconds after the first refused direct dial, for failure messages.
fn summary(seen: &Seen) -> String {
    let zero = seen.upstream.first.begun;
    let milliseconds = |at: Instant| match at.checked_duration_since(zero) {
        Some(after) => format!("{:.1}", after.as_secs_f64() * 1e3),
        None => format!("-{:.1}", (zero - at).as_secs_f64() * 1e3),
    };
    let count = |outcome: Outcome| seen.connects.iter().filter(|connect| connect.outcome == outcome).count();
    let odd = seen.connects.iter().filter(|connect| !matches!(connect.outcome, Outcome::Refused | Outcome::Served));
    let odd =
        odd.map(|connect| format!("{:?} {} to {}", connect.outcome, milliseconds(connect.begun), milliseconds(connect.ended)));
    format!(
        "{} connects, {} refused, {} served; sign {}, last refused dial {}, first accepted {}; missed: {}; others: {:?}",
        seen.connects.len(),
        count(Outcome::Refused),
        count(Outcome::Served),
        milliseconds(seen.sign),
        milliseconds(seen.upstream.last.begun),
        milliseconds(seen.upstream.accepted.ended),
        seen.finished.report["missed"],
        odd.collect::<Vec<_>>()
    )
}

/// Runs a test on the cluster of this file, one test at a time. A failing test drops the cluster.
fn with_cluster<T>(test: impl FnOnce(&mut Cluster) -> T) -> T {
    static CLUSTER: Mutex<Option<Cluster>> = Mutex::new(None);
    let mut place = CLUSTER.lock().unwrap_or_else(PoisonError::into_inner);
    // By default SIGTERM lets watches continue for a minute.
    let options =
        Options { api_server_arguments: vec!["--shutdown-watch-termination-grace-period=2s".to_owned()], ..Options::default() };
    let mut cluster = place.take().unwrap_or_else(|| Cluster::start(&options).unwrap());
    let result = test(&mut cluster);
    *place = Some(cluster);
    result
}
