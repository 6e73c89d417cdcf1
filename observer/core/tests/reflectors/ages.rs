//! The age of a revision that the server no longer has, as evidence about the watch cache (§3.3 of docs/semantics.md).

use std::fmt::Write as _;

use observer_core::observer::{Event, Limits};

use crate::script::play;

/// The server chooses the revision with the first page. Here that is 200 s before the list is complete.
const SLOW_PAGES: &str = "0s a1 GET /api/v1/pods?limit=1
     0s a1 whole rv=10 x@5 continue
     100s a3 GET /api/v1/pods?limit=1&continue=@10
     100s a3 whole rv=10 y@6 continue
     200s a5 GET /api/v1/pods?limit=1&continue=@10
     200s a5 whole rv=10 z@7
     201s a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=400&watch=true
     201s a7 opens
     201s a7 ERROR 410 Expired
     201s a7 ends
     202s a9 GET /api/v1/pods?resourceVersion=10
     202s a9 whole rv=900 x@5 y@6 z@7";

/// A revision that a list showed a minute ago.
const YOUNG: &str = "0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
     0s a1 whole rv=10 x@5
     1s a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=400&watch=true
     1s a3 opens
     59s a3 ends
     60s a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=400&watch=true
     60s a5 opens
     60s a5 ERROR 410 Expired
     60s a5 ends
     61s a7 GET /api/v1/pods?resourceVersion=10
     61s a7 whole rv=900 x@5";

#[test]
fn revision_is_as_old_as_the_first_page_of_its_list() {
    assert_eq!(causes("v1.30.4", SLOW_PAGES), ["expired/client-stalled"]);
    assert_eq!(causes("v1.30.4", &SLOW_PAGES.replace("100s", "1s").replace("20", "2")), ["expired/cache-reset"]);
}

#[test]
fn slow_pages_of_twelve_clients_are_not_a_restart() {
    assert_eq!(trigger("v1.30.4", SLOW_PAGES), "mass-expiry");
}

#[test]
fn streaming_list_is_as_old_as_its_request() {
    let list = "0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true
         0s a1 opens
         0s a1 ADDED x@5
         99s a1 ADDED y@6
         99s a1 END-BOOKMARK @10
         100s a1 reset by server
         101s a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&watch=true
         101s a3 opens
         101s a3 ERROR 410 Expired
         101s a3 ends
         102s a5 GET /api/v1/pods?resourceVersion=10";
    assert_eq!(causes("v1.35.0", list), ["expired/unknown"]);
}

#[test]
fn list_at_a_named_revision_does_not_make_it_young() {
    let list = |asked: &str| {
        format!(
            "0s a1 GET /api/v1/pods?{asked}
             0s a1 whole rv=10 x@5
             1s a3 GET /api/v1/pods?resourceVersion=10&watch=true
             1s a3 opens
             1s a3 ERROR 410 Expired
             1s a3 ends
             2s a5 GET /api/v1/pods?resourceVersion=10"
        )
    };
    assert_eq!(causes("v1.30.4", &list("resourceVersion=10&resourceVersionMatch=Exact")), ["expired/unknown"]);
    assert_eq!(causes("v1.30.4", &list("resourceVersion=10")), ["expired/cache-reset"]);
}

#[test]
fn revision_from_an_unseen_source_has_unknown_age() {
    let watch = "0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&watch=true
         0s a1 opens
         0s a1 ERROR 410 Expired
         0s a1 ends
         1s a3 GET /api/v1/pods?resourceVersion=10";
    assert_eq!(causes("v1.30.4", watch), ["expired/unknown"]);
}

#[test]
fn revision_is_as_old_as_the_list_it_came_from() {
    let watches = "0s a1 GET /api/v1/pods
         0s a1 whole rv=10 x@5
         1s a3 GET /api/v1/pods?resourceVersion=10&watch=true
         1s a3 opens
         290s a3 MODIFIED x@900
         300s a3 ends
         300s a5 GET /api/v1/pods?resourceVersion=10&watch=true
         300s a5 opens
         300s a5 ERROR 410 Expired
         300s a5 ends
         301s a7 GET /api/v1/pods";
    assert_eq!(causes("v1.30.4", watches), ["expired/bookmarks-not-requested"]);
}

/// A watch begins with the events since its revision, and they do not show when they happened.
#[test]
fn first_watch_event_may_be_as_old_as_the_start_revision() {
    let watches = "0s a1 GET /api/v1/pods
         0s a1 whole rv=10 x@5
         100s a3 GET /api/v1/pods?resourceVersion=10&watch=true
         100s a3 opens
         100s a3 MODIFIED x@11
         110s a3 ends
         111s a5 GET /api/v1/pods?resourceVersion=11&watch=true
         111s a5 opens
         111s a5 ERROR 410 Expired
         111s a5 ends
         112s a7 GET /api/v1/pods";
    assert_eq!(causes("v1.30.4", watches), ["expired/bookmarks-not-requested"]);
    assert_eq!(causes("v1.30.4", &watches.replace("100s a3 MODIFIED", "102s a3 MODIFIED")), ["expired/cache-reset"]);
}

#[test]
fn expired_young_revision_proves_a_restart_with_growing_window() {
    for (version, cause) in [
        ("v1.16.15", "expired/window-passed"),
        ("v1.18.20", "expired/window-passed"),
        ("v1.19.0", "expired/cache-reset"),
        ("v1.34.4", "expired/cache-reset"),
        ("", "expired/window-passed"),
    ] {
        assert_eq!(causes(version, YOUNG), [cause], "{version}");
    }
}

#[test]
fn twelve_young_expiries_trigger_a_restart_with_growing_window() {
    assert_eq!(trigger("v1.30.4", YOUNG), "api-server-restart");
    assert_eq!(trigger("v1.18.20", YOUNG), "mass-expiry");
    assert_eq!(trigger("", YOUNG), "mass-expiry");
}

#[test]
fn maximal_event_window_may_have_passed_a_young_revision() {
    for (newest, cause) in [(102_409, "expired/cache-reset"), (102_410, "expired/window-passed")] {
        let seen = format!("59s a9 GET /api/v1/secrets\n59s a9 whole rv={newest} s@7\n60s a5 GET");
        assert_eq!(causes("v1.30.4", &YOUNG.replace("60s a5 GET", &seen)), [cause], "{newest}");
    }
}

#[test]
fn uncached_resource_has_no_cache_restart() {
    let refused = YOUNG.replace("pods", "events").replace("59s a3 ends", "50s refusing\n51s listening\n59s a3 ends");
    assert_eq!(causes("v1.30.4", &refused), ["expired/unknown"]);
}

/// The causes of all relists that begin.
fn causes(version: &str, script: &str) -> Vec<String> {
    let server = if version.is_empty() { String::new() } else { format!("0s server {version}\n") };
    let (_, events) = play(&format!("{server}0s a connects\n{script}"), Limits::default());
    let began = |event: &Event| if let Event::RelistBegan { began } = event { Some(began.cause.to_string()) } else { None };
    events.iter().filter_map(began).collect()
}

/// The trigger of the only storm, if each of twelve clients plays `script`.
#[track_caller]
fn trigger(version: &str, script: &str) -> String {
    let mut lines: Vec<(std::time::Duration, String)> = Vec::new();
    let mut connects = if version.is_empty() { String::new() } else { format!("0s server {version}\n") };
    for client in "abcdefghijkl".chars() {
        let _infallible = writeln!(connects, "0s {client} connects client={client}/v1");
        for line in script.lines().map(str::trim) {
            let (time, words) = line.split_once(' ').unwrap();
            let words = words.replacen('a', &client.to_string(), 1);
            lines.push((humantime::parse_duration(time).unwrap(), format!("{time} {words}")));
        }
    }
    lines.sort_by_key(|(time, _)| *time);
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    let (snapshot, _) = play(&(connects + &lines.join("\n")), Limits::default());
    assert_eq!(snapshot.storms.len(), 1);
    snapshot.storms[0].trigger.to_string()
}
