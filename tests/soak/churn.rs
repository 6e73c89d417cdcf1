//! The source of churn, which bypasses watchtap: it creates, updates and deletes config maps, and continues during faults.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use observer_tests::Client;
use serde_json::json;

use super::repeated::Repeated;

/// Number of names; about two thirds of them exist at a time.
const NAMES: u64 = 60;
/// Time between two changes.
const PACE: Duration = Duration::from_millis(25);

/// Makes changes until it is dropped.
#[derive(Debug)]
pub(crate) struct Churn {
    changes: Arc<AtomicU64>,
    _writing: Repeated,
}

impl Churn {
    pub(crate) fn start(client: Client, configmaps: String) -> Self {
        let changes = Arc::<AtomicU64>::default();
        let counter = Arc::clone(&changes);
        let writing = Repeated::every(PACE, move |turn| {
            counter.fetch_add(u64::from(change(&client, &configmaps, turn)), Ordering::Relaxed);
        });
        Self { changes, _writing: writing }
    }

    /// The number of successful changes so far.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }
}

/// Makes one change. Each name gets four in turn: one create, two updates and one delete. Returns whether it succeeded; it fails
/// while a server is down.
fn change(client: &Client, configmaps: &str, turn: u64) -> bool {
    let name = format!("changing-{}", turn % NAMES);
    let path = format!("{configmaps}/{name}");
    let change = json!({"data": {"turn": turn.to_string(), "filling": "x".repeat(1000)}});
    let answer = match turn / NAMES % 4 {
        0 => client.post(configmaps, &json!({"metadata": {"name": name}, "data": change["data"]})),
        3 => client.raw("DELETE", &path, &[], b""),
        _ => client.raw("PATCH", &path, &[("Content-Type", "application/merge-patch+json")], change.to_string().as_bytes()),
    };
    answer.is_ok_and(|answer| answer.success().is_ok())
}
