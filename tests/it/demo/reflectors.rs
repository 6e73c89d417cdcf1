//! The requests of the scripted reflectors of each client-go release, as watchtap sees them on the wire.

use std::time::Duration;

use observer_demo::{Script, story};

use super::place::{DemoFixture, until};
use super::played::Played;

#[test]
fn client_go_1_15_relists_from_cache_after_a_refused_connection() {
    let played = Played::start(Some("0s start reflectors old/1 client-go=1.15 watches=nodes\n2s restart for=2s\n"), 4);
    let mut lists = Vec::new();
    while lists.len() < 2 {
        // A draining server may accept another watch, which lasts until the server exits.
        lists.extend(played.asked("old/1", 1).into_iter().filter(|asked| asked != "watch RV=N 200"));
    }
    assert_eq!(lists, ["list RV=0 limit=500 200"; 2]);
}

#[test]
fn client_go_since_1_18_resumes_after_a_refused_connection() {
    for release in ["1.18.2", "1.34"] {
        // The client connects to the demo directly. watchtap's listener may reset the first connection after a restart, and after a
        // reset, 1.18.2 relists. The resource `events` has no watch cache that a restart resets, so the watch can resume.
        let place = DemoFixture::start();
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("kubeconfig");
        std::fs::write(&kubeconfig, place.server.kubeconfig()).unwrap();
        let script = format!("0s start reflectors newer/1 client-go={release} watches=events");
        let script = Script::parse("events", &script).unwrap();
        let handle = place.handle();
        let clients = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        clients.spawn(async move { story::play(&script, handle, kubeconfig, 4, |_| {}).await });
        until(|| place.handle().open_watches() == 1);
        // A watch that delivered an event never counts as very short.
        let event = serde_json::json!({"metadata": {"name": "brought"}, "involvedObject": {"namespace": "default"}});
        place.client.post("/api/v1/namespaces/default/events", &event).unwrap().success().unwrap();
        place.handle().restart(Duration::from_millis(500)).blocking_recv().unwrap();
        until(|| place.handle().open_watches() == 1);
        assert_eq!(place.counters("events").storage_lists, 1, "{release}");
    }
}

#[test]
fn expired_watch_makes_each_client_go_release_relist_its_way() {
    let watch = "watch RV=N bookmarks 200";
    let streamed = "watch initial-events bookmarks 200";
    for (release, expected) in [
        ("1.15", vec!["list RV=0 limit=500 200", "watch RV=N 200", "watch RV=N 200", "list RV=0 limit=500 200", "watch RV=N 200"]),
        ("1.18.2", vec!["list RV=0 limit=500 200", watch, watch, "list RV=N 200", watch]),
        ("1.34", vec!["list RV=0 limit=500 200", watch, watch, "list RV=N 200", watch]),
        ("1.36", vec![streamed, watch, "watch RV=N initial-events bookmarks 200"]),
    ] {
        let script = format!("0s start reflectors mine/1 client-go={release} watches=nodes\n2s expire nodes\n");
        assert_eq!(Played::start(Some(&script), 4).asked("mine/1", expected.len()), expected, "{release}");
    }
}

#[test]
fn only_client_go_1_18_2_gets_stuck_after_a_restore() {
    let script = "\
        0s     backup\n\
        0s     start changer deployer/1 every=200ms\n\
        4s     stop deployer/1\n\
        4s     start reflectors stuck/1 client-go=1.18.2 watches=configmaps\n\
        4s     start reflectors later/1 client-go=1.34 watches=configmaps\n\
        4s     start reflectors streaming/1 client-go=1.36 watches=configmaps\n\
        6s     expire configmaps\n\
        6400ms restore for=2s\n";
    let played = Played::start(Some(script), 4);
    let (mut later, mut streaming, mut is_stuck) = (Vec::new(), Vec::new(), false);
    while !is_stuck || later.len() < 16 || streaming.len() < 4 {
        let event = played.event();
        let asked = super::played::request(&event);
        match event["client"]["program"].as_str() {
            Some("stuck/1") => is_stuck |= event["event"] == "stuck",
            Some("later/1") => later.extend(asked),
            Some("streaming/1") => streaming.extend(asked),
            _other => {}
        }
    }
    let watch = "watch RV=N bookmarks 200";
    let refused = vec!["list RV=N 504"; 11];
    assert_eq!(later, [vec!["list RV=0 limit=500 200", watch, watch], refused, vec!["list 200", watch]].concat());
    let streamed = "watch initial-events bookmarks 200";
    assert_eq!(streaming, [streamed, watch, "watch RV=N initial-events bookmarks 200", streamed]);
}
