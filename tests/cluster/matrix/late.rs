//! Rows with a lagging watch cache: etcd returns the current revision immediately, but the cache gets writes later.

use observer_tests::{Minor, Options};

use super::configuration::{Configuration, usual};
use super::ground::Ground;
use super::results::Results;
use super::row::{On, Row};
use super::session::{About, Session};

/// The first minor whose lists wait for the cache by default.
const CONSISTENT_SINCE: u32 = 31;

/// Sends consistent reads, which wait three seconds for the cache, while the cache does not catch up.
pub(super) fn check(minor: Minor, results: &mut Results) {
    if minor.0 < CONSISTENT_SINCE {
        return;
    }
    let configuration = Configuration::of(minor, "cache late for a consistent read", &[]);
    let options = Options { etcd_hop: true, ..configuration.options(minor) };
    let mut session = Session::start(&options, &[]);
    let resource = usual(minor);
    session.fill(&resource);
    let ground = Ground { revision: session.cluster.revision().unwrap(), token: String::new() };
    let about = About::new(&resource, &configuration.name);
    for row in [
        Row::list("RV unset", On::All, ""),
        Row::list("RV unset, limit", On::All, "limit=3"),
        Row::list("RV=0", On::All, "resourceVersion=0"),
    ] {
        session.cluster.hold_etcd_watches(true).unwrap();
        // A write that the cache does not receive.
        session.cluster.put_in_etcd("/registry/unheard", "of").unwrap();
        session.ask(&row, &about, &ground);
        session.cluster.hold_etcd_watches(false).unwrap();
    }
    results.add(session);
}
