//! Rows for a resource whose watch cache is not filled yet.
//!
//! The server creates the storage of a custom resource at the first request for it. The test stops etcd at that time, so the cache
//! cannot be filled before the server has chosen the layer for the request. Reads from etcd complete when etcd continues. Each row
//! has its own resource, whose objects are in etcd before the server knows them.

use std::thread;
use std::time::Duration;

use observer_core::routing::{CacheState, ServerProfile};
use observer_tests::{Minor, ReadCounters, Response, Signal};

use super::asked::{Asked, Remark};
use super::configuration::Configuration;
use super::ground::Ground;
use super::measured::Seen;
use super::resource::{OBJECTS, Resource};
use super::results::Results;
use super::row::Row;
use super::rows;
use super::rules;
use super::session::{Session, seen};

/// Maximum number of resources per row, until one is requested while its cache is not ready.
const TRIES: usize = 3;
/// Duration of etcd's stop. The API server needs a few milliseconds for decisions without etcd.
const STOPPED_FOR: Duration = Duration::from_millis(400);
const SETTLING: Duration = Duration::from_millis(150);

pub(super) fn check(minor: Minor, results: &mut Results) {
    let mut configurations = vec![Configuration::of(minor, "cache not ready", &[])];
    if [31, 33].contains(&minor.0) {
        let gate = "ResilientWatchCacheInitialization=false";
        configurations.push(Configuration::of(minor, &format!("cache not ready, {gate}"), &[&format!("--feature-gates={gate}")]));
    }
    for configuration in configurations {
        let mut session = Session::start(&configuration.options(minor), &[]);
        let profile = profile(&session, &configuration);
        let mut fresh = fresh(&session);
        let footprint = footprint(&session, &fresh.pop().unwrap());
        for row in rows::NOT_READY {
            ask(&mut session, row, &configuration.name, &mut fresh, footprint, &profile);
        }
        results.add(session);
    }
}

/// The true facts of this server, for the rules.
fn profile(session: &Session, configuration: &Configuration) -> ServerProfile {
    let mut profile = ServerProfile { version: Some(session.cluster.version().parse().unwrap()), ..ServerProfile::default() };
    for flag in &configuration.flags {
        let (gate, on) = flag.strip_prefix("--feature-gates=").unwrap().split_once('=').unwrap();
        profile.gates.insert(gate.parse().unwrap(), on.parse().unwrap());
    }
    profile
}

/// Resources without an earlier request, with objects in etcd.
fn fresh(session: &Session) -> Vec<Resource> {
    let letters = 'a'..='z';
    let count = rows::NOT_READY.len() + 2 * TRIES;
    let fresh: Vec<Resource> = letters.take(count).map(|letter| Resource::custom(&format!("fresh{letter}s"))).collect();
    session.define(&fresh.iter().collect::<Vec<_>>());
    for (resource, number) in fresh.iter().flat_map(|resource| (0..OBJECTS).map(move |number| (resource, number))) {
        let (key, value) = resource.stored(number);
        session.cluster.put_in_etcd(&key, &value).unwrap();
    }
    fresh
}

/// The counter changes that filling a watch cache causes, measured with a request that is one get of a key.
fn footprint(session: &Session, resource: &Resource) -> ReadCounters {
    let before = session.counters(resource);
    let got = session.get(&resource.object_path());
    assert_eq!(got.status, 200, "{}", got.text());
    let moved = settled(session, resource, before);
    ReadCounters { etcd_gets: moved.etcd_gets - 1, ..moved }
}

fn ask(
    session: &mut Session,
    row: &Row,
    configuration: &str,
    fresh: &mut Vec<Resource>,
    footprint: ReadCounters,
    profile: &ServerProfile,
) {
    let mut last = None;
    for _try in 0..TRIES {
        let Some(resource) = fresh.pop() else { break };
        let ground = Ground { revision: session.cluster.revision().unwrap(), token: String::new() };
        let (method, path) = row.request(&resource, &ground);
        let agent = session.next_agent();
        let before = session.counters(&resource);
        let answer = request_while_etcd_is_stopped(session, method, &path, &agent);
        let moved = settled(session, &resource, before) - footprint;
        let seen = Seen { named: None, ..seen(row, &answer, moved, &ground) };
        let measured = seen.measured();
        let covers =
            |cache| measured.is_some_and(|measured| rules::covers(&rules::verdict(profile, cache, method, &path), measured));
        let asked = Asked::of(row, &resource, configuration).by(&agent, method, path.clone());
        let was_ready = covers(CacheState::Ready) && !covers(CacheState::NotReady);
        if measured.is_some() && !was_ready {
            return session.note(asked.measured(measured, &seen, &[Remark::CacheNotReady]));
        }
        last = Some(if was_ready {
            asked.not_provoked("the watch cache was ready each time before the request came to it")
        } else {
            asked.measured(measured, &seen, &[Remark::CacheNotReady])
        });
    }
    session.note(last.expect("there are resources enough"));
}

fn request_while_etcd_is_stopped(session: &Session, method: &'static str, path: &str, agent: &str) -> Response {
    session.cluster.signal_etcd(Signal::Stop).unwrap();
    let (client, path, agent) = (session.through(), path.to_owned(), agent.to_owned());
    let answered = thread::spawn(move || client.raw(method, &path, &[("User-Agent", &agent)], b""));
    thread::sleep(STOPPED_FOR);
    session.cluster.signal_etcd(Signal::Continue).unwrap();
    answered.join().unwrap().unwrap()
}

/// The counter changes after the cache has filled, when the counters stop moving.
fn settled(session: &Session, resource: &Resource, before: ReadCounters) -> ReadCounters {
    let mut last = before;
    session.eventually(|| {
        thread::sleep(SETTLING);
        let now = session.counters(resource);
        let rests = now == last && now.watch_streams > before.watch_streams;
        last = now;
        rests.then_some(now - before)
    })
}
