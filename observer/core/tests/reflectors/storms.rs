//! Tests of when many relists are one storm, and when they are not.

use std::fmt::Write as _;

use observer_core::observer::{Event, FindingKind, Limits, Snapshot};
use observer_core::storm::StormKind;

use crate::script::play;

/// A client for each letter of `clients`, with `informers` reflectors each. All of them watch at `0s`.
fn fleet(clients: &str, informers: usize) -> String {
    let mut script = "0s server v1.34.4\n".to_owned();
    for client in clients.chars() {
        let _infallible = writeln!(script, "0s {client} connects client={client}/v1");
        for informer in 0..informers {
            let (list, watch) = (4 * informer + 1, 4 * informer + 3);
            let resource = format!("/apis/example.com/v1/kind{informer}s");
            let _infallible = writeln!(
                script,
                "0s {client}{list} GET {resource}?limit=500&resourceVersion=0\n\
                 0s {client}{list} whole rv=10 x@5 y@6\n\
                 0s {client}{watch} GET {resource}?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=400&watch=true\n\
                 0s {client}{watch} opens"
            );
        }
    }
    script
}

/// All these reflectors relist, the first at `from` milliseconds, and each `step` milliseconds after the one before.
fn relists(clients: &str, informers: usize, from: usize, step: usize) -> String {
    let mut script = String::new();
    let mut at = from;
    for client in clients.chars() {
        for informer in 0..informers {
            let (watch, list, again) = (4 * informer + 3, 1_001 + 4 * informer, 1_003 + 4 * informer);
            let resource = format!("/apis/example.com/v1/kind{informer}s");
            let _infallible = writeln!(
                script,
                "{at}ms {client}{watch} ERROR 410 Expired\n{at}ms {client}{watch} ends\n\
                 {at}ms {client}{list} GET {resource}?resourceVersion=10\n\
                 {at}ms {client}{list} whole rv=20 x@5 y@16\n\
                 {at}ms {client}{again} GET {resource}?allowWatchBookmarks=true&resourceVersion=20&timeoutSeconds=400&watch=true\n\
                 {at}ms {client}{again} opens"
            );
            at += step;
        }
    }
    script
}

#[test]
fn tenth_reflector_within_ten_seconds_starts_a_storm_once() {
    let script = fleet("abcde", 4) + &relists("abcde", 4, 100_000, 100);
    let (snapshot, events) = play(&(script + "200s listening"), Limits::default());
    assert_eq!(named(&events), ["began at 100900ms"]);
    let storm = &snapshot.storms[0];
    assert_eq!(
        (storm.reflectors, storm.clients, storm.relists, storm.items.or_zero(), storm.repeated.or_zero()),
        (20, 5, 20, 40, 20)
    );
    assert_eq!((storm.kind, storm.trigger.to_string().as_str()), (StormKind::Clients, "mass-expiry"));
    assert!(storm.ended.is_some() && storm.peak_per_second >= 9, "{storm:?}");
}

#[test]
fn nine_or_ten_slow_reflectors_are_not_a_storm() {
    for script in [fleet("abc", 3) + &relists("abc", 3, 100_000, 10), fleet("abcde", 2) + &relists("abcde", 2, 100_000, 1_200)] {
        let (snapshot, events) = play(&script, Limits::default());
        assert_eq!((named(&events).len(), snapshot.storms.len()), (0, 0));
    }
}

#[test]
fn storm_of_one_client_has_its_own_kind() {
    let (snapshot, _) = play(&(fleet("a", 12) + &relists("a", 12, 100_000, 10)), Limits::default());
    assert_eq!(snapshot.storms.iter().map(|storm| storm.kind).collect::<Vec<_>>(), [StormKind::Client]);
}

#[test]
fn rollout_and_poller_are_not_a_storm() {
    let mut script = fleet("a", 12) + "50s a closed by client\n51s b connects client=a/v1\n";
    for informer in 0..12 {
        let (list, watch) = (4 * informer + 1, 4 * informer + 3);
        let resource = format!("/apis/example.com/v1/kind{informer}s");
        let _infallible = writeln!(
            script,
            "51s b{list} GET {resource}?limit=500&resourceVersion=0\n51s b{list} whole rv=10 x@5\n\
             51s b{watch} GET {resource}?resourceVersion=10&watch=true\n51s b{watch} opens"
        );
    }
    for second in 60..120 {
        let _infallible = writeln!(script, "{second}s b{0} GET /api/v1/pods\n{second}s b{0} whole rv=10 x@5", 10_001 + 2 * second);
    }
    let (snapshot, events) = play(&script, Limits::default());
    assert_eq!((named(&events).len(), snapshot.storms.len()), (0, 0));
    let causes: Vec<String> = snapshot.reflectors.iter().flat_map(|row| row.causes.keys().cloned()).collect();
    assert_eq!(causes, vec!["new-process"; 12]);
}

#[test]
fn refused_connections_before_a_storm_make_restart_the_trigger() {
    // client-go 1.15 does not ask for bookmarks.
    let mut script = fleet("abcd", 3).replace("allowWatchBookmarks=true&", "") + "100s refusing\n";
    for client in "abcd".chars() {
        let _infallible = writeln!(script, "100s {client} closed by server");
    }
    script.push_str("103s listening\n");
    for (number, client) in "efgh".chars().enumerate() {
        let words = "abcd".chars().nth(number).unwrap();
        let _infallible = writeln!(script, "104s {client} connects client={words}/v1");
        for informer in 0..3 {
            let resource = format!("/apis/example.com/v1/kind{informer}s");
            let (list, watch) = (4 * informer + 1, 4 * informer + 3);
            let _infallible = writeln!(
                script,
                "104s {client}{list} GET {resource}?limit=500&resourceVersion=0\n104s {client}{list} whole rv=10 x@5 y@6\n\
                 104s {client}{watch} GET {resource}?resourceVersion=10&watch=true\n104s {client}{watch} opens"
            );
        }
    }
    let (snapshot, events) = play(&script, Limits::default());
    assert_eq!(named(&events), ["began at 104s"]);
    let storm = &snapshot.storms[0];
    assert_eq!((storm.trigger.to_string().as_str(), storm.repeated.or_zero()), ("api-server-restart", 24));
    assert_eq!(storm.causes.keys().collect::<Vec<_>>(), ["refused-misread"]);
    assert_eq!(storm.served_from.iter().collect::<Vec<_>>(), [(&"cache".to_owned(), &12)]);
}

#[test]
fn storm_lasts_while_members_join_and_ends_once() {
    let mut script = fleet("abcdef", 4) + &relists("abcdef", 4, 100_000, 3_000 / 4);
    for second in 118..160 {
        let _infallible = writeln!(script, "{second}s listening");
    }
    let (snapshot, events) = play(&script, Limits::default());
    assert_eq!(named(&events).len(), 1);
    let ended = events.iter().filter(|event| matches!(event, Event::StormEnded { .. })).count();
    assert_eq!((ended, snapshot.storms.len(), snapshot.totals.storms), (1, 1, 1));
    assert_eq!(snapshot.storms[0].reflectors, 24);
}

#[test]
fn storm_does_not_wait_for_a_member_that_is_stuck() {
    let mut script = fleet("abcde", 4) + &relists("abcd", 4, 100_000, 100);
    script += "101s e3 ERROR 410 Expired\n101s e3 ends\n";
    for attempt in 0..30 {
        let (at, list) = (102 + 3 * attempt, 2_001 + 2 * attempt);
        let _infallible = writeln!(
            script,
            "{at}s e{list} GET /apis/example.com/v1/kind0s?resourceVersion=10\n{at}s e{list} refused 504 Timeout too-large"
        );
    }
    let (snapshot, events) = play(&script, Limits::default());
    assert_eq!((named(&events).len(), snapshot.totals.stuck), (1, 1));
    assert_eq!((snapshot.storms[0].reflectors, snapshot.storms[0].ended.is_some()), (17, true));
}

/// A storm of 17 reflectors. The lists of one of them are refused until 188 s.
fn storm_with_one_that_cannot_list() -> String {
    let mut script = fleet("abcde", 4) + &relists("abcd", 4, 100_000, 100);
    script += "101s e3 ERROR 410 Expired\n101s e3 ends\n";
    for attempt in 0..30 {
        let (at, list) = (101_200 + 3_000 * attempt, 2_001 + 2 * attempt);
        let _infallible = writeln!(
            script,
            "{at}ms e{list} GET /apis/example.com/v1/kind0s?resourceVersion=10\n{at}ms e{list} refused 504 Timeout too-large"
        );
    }
    script
}

#[test]
fn storm_duration_covers_joins_and_unlisted_clients_are_named() {
    let (snapshot, events) = play(&storm_with_one_that_cannot_list(), Limits::default());
    let storm = &snapshot.storms[0];
    let at = |time: Option<observer_core::time::Timestamp>| time.map(crate::script::seconds);
    assert_eq!((at(Some(storm.last)), at(storm.ended)), (Some("101500ms".to_owned()), Some("111500ms".to_owned())));
    assert_eq!((storm.relists, storm.complete, storm.served_from.values().sum::<u64>()), (17, 16, 16));
    assert_eq!((storm.without_list, storm.unlisted.len()), (1, 1));
    assert_eq!(storm.unlisted[0].client.program, "e/v1");
    let ended = events.iter().filter(|event| matches!(event, Event::StormEnded { .. })).count();
    assert_eq!((named(&events).len(), ended), (1, 1));

    let lists = "192s e9001 GET /apis/example.com/v1/kind0s?resourceVersion=10\n192s e9001 whole rv=20 x@5 y@16\n";
    let (snapshot, _) = play(&(storm_with_one_that_cannot_list() + lists), Limits::default());
    let storm = &snapshot.storms[0];
    assert_eq!(
        (storm.relists, storm.complete, storm.served_from.values().sum::<u64>()),
        (17, 17, 17),
        "all lists are accounted for"
    );
    assert_eq!((storm.without_list, storm.unlisted.len(), storm.items.or_zero()), (0, 0, 34));
}

#[test]
fn storm_does_not_depend_on_the_time_of_ticks() {
    let script = storm_with_one_that_cannot_list();
    let (without, _) = play(&(script.clone() + "200s listening"), Limits::default());
    let mut lines: Vec<String> = script.lines().map(str::to_owned).collect();
    let first = lines.iter().position(|line| line.starts_with("100000ms")).unwrap();
    lines.splice(first..first, (51..100).map(|second| format!("{second}s listening")));
    lines.extend((190..=200).map(|second| format!("{second}s listening")));
    let (with, _) = play(&lines.join("\n"), Limits::default());
    assert_eq!(with.storms, without.storms);

    let few = fleet("abcd", 4) + &relists("abcd", 4, 100_000, 100);
    let ticks: String = (103..=150).fold(String::new(), |ticks, second| ticks + &format!("{second}s listening\n"));
    let (early, _) = play(&(few.clone() + &ticks), Limits::default());
    let (late, _) = play(&(few + "150s listening"), Limits::default());
    assert_eq!((early.storms.len(), &early.storms), (1, &late.storms), "it is over at the same time, whoever looks");
}

#[test]
fn members_beyond_the_limit_are_counted() {
    let mut limits = Limits::default();
    limits.storms.members = 5;
    let (snapshot, _): (Snapshot, _) = play(&(fleet("abcd", 3) + &relists("abcd", 3, 100_000, 10)), limits);
    let storm = &snapshot.storms[0];
    assert_eq!((storm.members.len(), storm.members_omitted, storm.reflectors), (5, 7, 12));
}

#[expect(clippy::wildcard_enum_match_arm, reason = "other events are not about the beginning of a storm")]
fn named(events: &[Event]) -> Vec<String> {
    let began = |event: &Event| match event {
        Event::StormBegan { record } => Some(format!("began at {}", crate::script::seconds(record.named))),
        _ => None,
    };
    events.iter().filter_map(began).collect()
}

/// One connection with many watches is cut, and the client lists everything instead of resuming.
#[test]
fn storm_without_another_explanation_is_a_finding() {
    let mut script = fleet("a", 12) + "100s a closed by server\n100s b connects client=a/v1\n";
    for informer in 0..12 {
        let list = 2 * informer + 1;
        let resource = format!("/apis/example.com/v1/kind{informer}s");
        let _infallible = writeln!(script, "101s b{list} GET {resource}\n101s b{list} whole rv=20 x@5 y@16");
    }
    let found = play(&(script + "200s listening"), Limits::default()).0;
    let [finding] = &found.findings[..] else { panic!("{:#?}", found.findings) };
    assert_eq!((finding.kind, finding.amount), (FindingKind::RelistStorm, 12));
    assert_eq!(finding.id, "relist-storm:a/v1:all-resources/network");
    assert!(!finding.lasts());
    let problem = &found.problems[0];
    assert_eq!(problem.change, "let the clients resume their watches when a connection is lost");
    assert_eq!(problem.wrong, "12 relists by a at the same time");
}

/// client-go before 1.16 lists after refused connections, and `refused-misread` has the change to make.
#[test]
fn storm_that_other_findings_explain_is_no_finding_itself() {
    let mut script = fleet("a", 12).replace("allowWatchBookmarks=true&", "")
        + "100s refusing\n100s a closed by server\n103s listening\n104s b connects client=a/v1\n";
    for informer in 0..12 {
        let list = 2 * informer + 1;
        let resource = format!("/apis/example.com/v1/kind{informer}s?limit=500&resourceVersion=0");
        let _infallible = writeln!(script, "104s b{list} GET {resource}\n104s b{list} whole rv=20 x@5 y@16");
    }
    let found = play(&(script + "200s listening"), Limits::default()).0;
    assert_eq!((found.storms.len(), found.storms[0].relists), (1, 12));
    assert!(found.findings.iter().all(|finding| finding.kind == FindingKind::RefusedMisread), "{:#?}", found.findings);
}
