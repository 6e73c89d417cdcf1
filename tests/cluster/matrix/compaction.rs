//! Rows with compacted revisions, and with snapshots that were dropped.

use observer_tests::{Minor, Signal};

use super::asked::Remark;
use super::configuration::{CUSTOM_RESOURCES_ONLY, Configuration, usual};
use super::ground::Ground;
use super::resource::Resource;
use super::results::Results;
use super::rows;
use super::session::{About, Session, ground_of};

const COMPACTED: &str = "compacted";
const QUIET: &str = "compacted, and not written since";
const RESTARTED: &str = "API server restarted since";

pub(super) fn check(minor: Minor, results: &mut Results) {
    let mut session = Session::start(&Configuration::of(minor, COMPACTED, &[]).options(minor), &[]);
    let mut resources = vec![usual(minor)];
    if minor != CUSTOM_RESOURCES_ONLY {
        resources.push(Resource::events());
    }
    let other = Resource::custom("gadgets");
    resources.iter().chain([&other]).for_each(|resource| session.fill(resource));

    let grounds: Vec<Ground> = resources.iter().map(|resource| session.prepare(resource)).collect();
    // A watch may still start at the compacted revision, so one more write follows each revision under test.
    session.write(&other);
    session.cluster.compact_etcd().unwrap();
    for (resource, ground) in resources.iter().zip(&grounds) {
        wait_until_expired(&session, resource, ground);
        let about = About::new(resource, COMPACTED);
        for row in rows::COMPACTED {
            session.ask(row, &about, ground);
        }
        let expired = session.get(&format!("{}?limit=3&continue={}", resource.all(), ground.token));
        let replaced = ground_of_refusal(&expired.json().unwrap(), ground);
        session.ask(&rows::CONTINUE_AFTER_EXPIRED, &about, &replaced);
    }
    quiet(&mut session, &resources[0], &other);
    restarted(&mut session, &resources[0]);
    results.add(session);
}

/// Waits until the watch cache has noticed the compaction. It checks every 15 s.
fn wait_until_expired(session: &Session, resource: &Resource, ground: &Ground) {
    const EXPIRED: u16 = 410;
    let path = format!("{}?resourceVersion={}&resourceVersionMatch=Exact", resource.all(), ground.revision);
    session.eventually(|| (session.get(&path).status == EXPIRED).then_some(()));
}

/// A row whose revision is recent and still in etcd. But all snapshots are older than the compaction, so the cache has dropped
/// them.
fn quiet(session: &mut Session, resource: &Resource, other: &Resource) {
    let page = session.through().get(&format!("{}?limit=3", resource.all())).unwrap().json().unwrap();
    session.write(other);
    let about = About::new(resource, QUIET);
    session.ask(&rows::EXACT, &about, &ground_of(&page));
}

/// A row after a restart of the API server: the watch cache starts at a later revision, and watchtap has noticed the restart.
fn restarted(session: &mut Session, resource: &Resource) {
    let ground = session.prepare(resource);
    session.cluster.stop_api_server(Signal::Kill).unwrap();
    session.cluster.wait_stopped().unwrap();
    session.cluster.start_api_server().unwrap();
    session.reconnect();
    let path = format!("{}?resourceVersion=0", resource.all());
    session.eventually(|| (session.get(&path).status == 200).then_some(()));
    let about = About { remarks: &[Remark::Unseen], ..About::new(resource, RESTARTED) };
    session.ask(&rows::EXACT, &about, &ground);
}

/// The token of a 410 response.
fn ground_of_refusal(refusal: &serde_json::Value, before: &Ground) -> Ground {
    let token = refusal["metadata"]["continue"].as_str().expect("a 410 comes with a token").to_owned();
    Ground { token, ..before.clone() }
}
