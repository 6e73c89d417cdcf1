//! The start of a pod, and of the sidecar's process.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde::Serialize;

use super::stage::{Beside, Stage};
use crate::statistics::Summary;

/// Seconds from the request that creates a pod until the program of its container runs. One element for each round.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    without: Vec<f64>,
    trivial: Vec<f64>,
    watchtap: Vec<f64>,
}

/// The start of a pod.
#[derive(Debug, Serialize)]
pub(super) struct Start {
    pub(super) without_s: Summary,
    pub(super) trivial_s: Summary,
    pub(super) watchtap_s: Summary,
    /// Additional seconds, compared with the pod with the trivial sidecar of the same round.
    pub(super) added_s: Summary,
    /// Milliseconds from the start of the sidecar's process until it answers the startup probe.
    pub(super) own_ms: Summary,
}

/// Starts each kind of pod once a round, in turn.
pub(super) fn measure(stage: &Stage<'_>, rounds: u32, progress: impl Fn(u32)) -> Result<Rounds> {
    let mut measured = Rounds::default();
    for round in 0..rounds {
        progress(round);
        measured.without.push(seconds(stage, Beside::Nothing)?);
        measured.trivial.push(seconds(stage, Beside::Trivial)?);
        measured.watchtap.push(seconds(stage, Beside::Watchtap)?);
    }
    Ok(measured)
}

/// The container prints its time; all clocks are that of the machine.
fn seconds(stage: &Stage<'_>, beside: Beside) -> Result<f64> {
    let manifest = stage.app("app", beside)?;
    let path = format!("/api/v1/namespaces/{}/pods", stage.namespace.name());
    let begun = SystemTime::now().duration_since(UNIX_EPOCH)?;
    stage.node.raw("POST", &path, &[("Content-Type", "application/yaml")], manifest.as_bytes())?.success()?;
    stage.namespace.wait("pod/app", "condition=Ready")?;
    let printed = stage.namespace.logs("app", "app")?;
    let nanoseconds: u64 = printed.trim().parse().with_context(|| format!("the container printed {printed:?}"))?;
    stage.namespace.delete("pod/app")?;
    Ok(std::time::Duration::from_nanos(nanoseconds).saturating_sub(begun).as_secs_f64())
}

/// Milliseconds of each start of the sidecar's process in one pod. Each start makes a new certificate authority.
pub(super) fn own(stage: &Stage<'_>, starts: u32) -> Result<Vec<f64>> {
    stage.namespace.apply(&stage.app("starting", Beside::Starting)?)?;
    stage.namespace.wait("pod/starting", "condition=Ready")?;
    let mut log = stage.namespace.follow_logs("starting", "watchtap")?;
    let mut milliseconds = Vec::new();
    for _ in 0..starts {
        let line = log.next_line()?;
        let nanoseconds: f64 = line.parse().with_context(|| format!("a start printed {line:?}"))?;
        milliseconds.push(nanoseconds / 1e6);
    }
    drop(log);
    stage.namespace.delete("pod/starting")?;
    Ok(milliseconds)
}

impl Start {
    pub(super) fn of(rounds: &Rounds, own: &[f64]) -> Option<Self> {
        let of = |seconds: &[f64]| Summary::of(seconds.iter().copied());
        let added = rounds.watchtap.iter().zip(&rounds.trivial).map(|(watchtap, trivial)| watchtap - trivial);
        Some(Self {
            without_s: of(&rounds.without)?,
            trivial_s: of(&rounds.trivial)?,
            watchtap_s: of(&rounds.watchtap)?,
            added_s: Summary::of(added)?,
            own_ms: of(own)?,
        })
    }
}

#[test]
fn sidecars_are_compared_round_by_round() {
    let rounds = Rounds { without: vec![1.0, 1.0], trivial: vec![2.0, 3.0], watchtap: vec![2.5, 3.5] };
    let start = Start::of(&rounds, &[30.0, 50.0]).unwrap();
    assert_eq!((start.added_s.low, start.added_s.high, start.own_ms.median), (0.5, 0.5, 40.0));
    assert!(Start::of(&rounds, &[]).is_none());
}
