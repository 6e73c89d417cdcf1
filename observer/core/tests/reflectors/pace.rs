//! How fast a watch delivers events, and how often it sends bookmarks.

use observer_core::observer::Limits;

use crate::script::play;

const INFORMER: &str = "
    0s a connects
    1s a1 GET /api/v1/pods?limit=500&resourceVersion=0
    1s a1 whole rv=10 x@5
    2s a2 GET /api/v1/pods?watch=1&resourceVersion=10&allowWatchBookmarks=true
    2s a2 opens
";

#[test]
fn mean_time_between_bookmarks_is_reported_from_the_second_on() {
    for (bookmarks, every) in [
        ("", None),
        ("60s a2 BOOKMARK @10", None),
        ("60s a2 BOOKMARK @10\n 120s a2 BOOKMARK @12", Some(60_000_000)),
        ("60s a2 BOOKMARK @10\n 120s a2 MODIFIED x@11\n 130s a2 BOOKMARK @12\n 200s a2 BOOKMARK @15", Some(70_000_000)),
    ] {
        let (snapshot, _) = play(&format!("{INFORMER}\n{bookmarks}"), Limits::default());
        assert_eq!(snapshot.reflectors[0].bookmark_every_us, every, "{bookmarks}");
    }
}

#[test]
fn event_rate_decays_and_ignores_bookmarks() {
    let (busy, _) = play(&format!("{INFORMER}\n 30s a2 MODIFIED x@11\n 30s a2 MODIFIED x@12"), Limits::default());
    let (quiet, _) = play(&format!("{INFORMER}\n 30s a2 MODIFIED x@11\n 300s a2 BOOKMARK @12"), Limits::default());
    assert!(busy.reflectors[0].events_per_second > quiet.reflectors[0].events_per_second);
    assert!(quiet.reflectors[0].events_per_second.is_none());
    assert!(busy.rates.watch_events_per_second > quiet.rates.watch_events_per_second);
    assert_eq!((busy.totals.watches_open, quiet.totals.watches_open), (1, 1));
    let last_event = quiet.reflectors[0].last_event.unwrap();
    assert_eq!(quiet.reflectors[0].last_bookmark.unwrap().since(last_event).as_secs(), 270);
}
