//! Bounds of the state about reflectors: data beyond them is discarded and counted.

use std::fmt::Write as _;

use observer_core::observer::Limits;
use observer_core::reflector::ReflectorLimits;

use crate::script::play;

fn objects(number: usize, changed: usize) -> String {
    let version = |object| if object < changed { 5_000 + object } else { object + 1 };
    (0..number).flat_map(|object| [" o".to_owned(), object.to_string(), "@".to_owned(), version(object).to_string()]).collect()
}

#[test]
fn full_version_memory_switches_to_estimates_with_their_error() {
    let script = format!(
        "0s a connects client=c/v1\n0s a1 GET /api/v1/pods?limit=500&resourceVersion=0\n0s a1 whole rv=6000{}\n\
         0s a3 GET /api/v1/pods?resourceVersion=6000&watch=true\n0s a3 opens\n60s a3 ERROR 500 InternalError\n60s a3 ends\n\
         61s a5 GET /api/v1/pods?resourceVersion=6000\n61s a5 whole rv=7000{}",
        objects(2_000, 0),
        objects(2_000, 500)
    );
    let exact = play(&script, Limits::default()).0;
    let relist = exact.reflectors[0].last_relist.as_ref().unwrap().repeats;
    assert_eq!(
        (relist.objects.or_zero(), relist.repeated.or_zero(), relist.error, exact.missed.reflectors.thinned),
        (2_000, 1_500, 0, 0)
    );

    let mut limits = Limits::default();
    limits.reflectors.objects = 512;
    limits.reflectors.reflectors = 8;
    let sampled = play(&script, limits).0;
    let relist = sampled.reflectors[0].last_relist.as_ref().unwrap().repeats;
    assert!(sampled.missed.reflectors.thinned > 0 && relist.error > 0, "{relist:?}");
    assert!(relist.repeated.or_zero().abs_diff(1_500) <= relist.error && relist.error < 800, "{relist:?}");
}

#[test]
fn reflectors_beyond_the_limit_are_forgotten_and_counted() {
    let mut script = "0s a connects client=c/v1\n".to_owned();
    for number in 0..40 {
        let exchange = 2 * number + 1;
        let _infallible =
            writeln!(script, "{number}s a{exchange} GET /api/v1/namespaces/n{number}/pods\n{number}s a{exchange} whole rv=10 x@5");
    }
    let mut limits = Limits::default();
    limits.reflectors.reflectors = 16;
    let snapshot = play(&script, limits).0;
    assert_eq!((snapshot.reflectors.len(), snapshot.missed.reflectors.forgotten, snapshot.missed.reflectors.requests), (16, 24, 0));
}

#[test]
fn watches_beyond_the_limit_are_counted_without_evicting_others() {
    let mut script = "0s a connects client=c/v1\n".to_owned();
    for number in 0..10 {
        let exchange = 2 * number + 1;
        let _infallible = writeln!(
            script,
            "0s a{exchange} GET /api/v1/namespaces/n{number}/pods?resourceVersion=5&watch=true\n0s a{exchange} opens"
        );
    }
    let mut limits = Limits::default();
    limits.reflectors.reflectors = 4;
    let snapshot = play(&script, limits).0;
    assert_eq!((snapshot.reflectors.len(), snapshot.missed.reflectors.requests, snapshot.missed.reflectors.forgotten), (4, 6, 0));
}

#[test]
fn requests_with_long_texts_are_limited_by_memory() {
    const REQUESTS: usize = 64;
    let asks = |verb: &str, ends: &str| -> String {
        let selector = "x".repeat(1_000);
        let ask = |number: usize| {
            let exchange = 2 * number + 1;
            format!(
                "{number}s a{exchange} GET /api/v1/namespaces/n{number}/pods?{verb}labelSelector={selector}\n{number}s a{exchange} {ends}\n"
            )
        };
        ["0s a connects client=c/v1\n".to_owned()].into_iter().chain((0..REQUESTS).map(ask)).collect()
    };
    let (watches, lists) = (asks("watch=true&resourceVersion=5&", "opens"), asks("", "whole rv=10 x@5"));
    let all = Limits::default();
    let enough = play(&watches, all).0;
    assert_eq!((enough.totals.open, enough.missed.exchanges_dropped, enough.missed.open_not_shown), (REQUESTS as u64, 0, 0));

    let of = |limits| play(&watches, limits).0;
    let few_open = of(Limits { open_memory: 128 << 10, ..all });
    assert!((8..60).contains(&few_open.totals.open), "{}", few_open.totals.open);
    assert_eq!(few_open.totals.open + few_open.missed.exchanges_dropped, REQUESTS as u64);
    let few_reflectors = of(Limits { reflectors: ReflectorLimits { memory: 128 << 10, ..all.reflectors }, ..all });
    assert!((8..60).contains(&few_reflectors.reflectors.len()), "{}", few_reflectors.reflectors.len());
    assert_eq!(few_reflectors.reflectors.len() as u64 + few_reflectors.missed.reflectors.requests, REQUESTS as u64);

    let few_records = play(&lists, Limits { records_memory: 128 << 10, ..all }).0;
    assert!((8..60).contains(&few_records.requests.len()), "{}", few_records.requests.len());
    assert_eq!(few_records.requests.len() as u64 + few_records.missed.records_dropped, REQUESTS as u64);
    let few_rows = play(&lists, Limits { rows_memory: 128 << 10, ..all }).0;
    assert!((8..60).contains(&few_rows.lists.len()), "{}", few_rows.lists.len());
    assert_eq!(few_rows.lists.len() as u64 + few_rows.missed.rows_dropped, REQUESTS as u64);
}

#[test]
fn forgotten_own_writes_are_counted_when_their_event_arrives() {
    let begin = "0s a connects client=writer/1\n1s a1 GET /api/v1/pods?watch=1&resourceVersion=10\n1s a1 opens\n";
    let write = |number: u64| {
        let (exchange, version) = (number + 2, number + 11);
        format!("5s a{exchange} PATCH /api/v1/namespaces/d/pods/x\n5s a{exchange} written x@{version}\n")
    };
    let others: String = (1..=300).map(write).collect();
    let never = play(&[begin, &others].concat(), Limits::default()).0;
    assert_eq!(never.missed.reflectors.own_writes, 0, "none came back ever");

    let came_back = [begin, &write(0), "6s a1 MODIFIED x@11\n"].concat();
    let late = play(&[&came_back, &others.replace("5s", "7s")[..]].concat(), Limits::default()).0;
    assert_eq!((late.missed.reflectors.own_writes, late.propagation[0].writes), (300 - 256, 1));
}

#[test]
fn clients_beyond_the_pacing_limit_are_counted() {
    let mut script = String::new();
    for (number, letter) in ('\u{4e00}'..).take(1_030).enumerate() {
        let _infallible = writeln!(script, "{number}s {letter} connects client=c{number}/1\n{number}s {letter}1 GET /api/v1/pods");
    }
    assert_eq!(play(&script, Limits::default()).0.missed.reflectors.rate_limits, 6);
}
