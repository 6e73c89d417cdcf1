//! The source of churn, which bypasses the tap: it creates, updates and deletes config maps at a steady pace.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Result, ensure};
use observer_tests::{Client, Response};
use serde_json::json;

/// Number of names; about two thirds of them exist at a time.
const NAMES: usize = 150;
/// Coprime to [`NAMES`], so that each name gets its turn.
const STRIDE: usize = 7;
/// Time between two changes.
const PACE: Duration = Duration::from_millis(20);

/// Number of changes by kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Changes {
    pub(super) created: u64,
    pub(super) updated: u64,
    pub(super) deleted: u64,
}

/// Changes config maps of a namespace until the sender of `ended` is dropped.
pub(super) fn write(client: &Client, namespace: &str, ended: &Receiver<()>) -> Result<Changes> {
    let mut changes = Changes::default();
    let mut exists = [false; NAMES];
    let mut turn = 0_usize;
    while ended.recv_timeout(PACE) == Err(RecvTimeoutError::Timeout) {
        let number = turn * STRIDE % NAMES;
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        // Each name has four turns: one create, two updates and one delete.
        let delete = turn / NAMES % 4 == 3;
        if !exists[number] {
            let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("changing-{number}")}, "data": {"turn": turn.to_string()}});
            done(&client.post(&path, &object)?)?;
            changes.created += 1;
        } else if delete {
            done(&client.raw("DELETE", &format!("{path}/changing-{number}"), &[], b"")?)?;
            changes.deleted += 1;
        } else {
            let change = json!({"data": {"turn": turn.to_string()}}).to_string();
            let merge = [("Content-Type", "application/merge-patch+json")];
            done(&client.raw("PATCH", &format!("{path}/changing-{number}"), &merge, change.as_bytes())?)?;
            changes.updated += 1;
        }
        exists[number] = !delete;
        turn += 1;
    }
    Ok(changes)
}

fn done(response: &Response) -> Result<()> {
    ensure!((200..300).contains(&response.status), "the API server said {}: {}", response.status, response.text());
    Ok(())
}
