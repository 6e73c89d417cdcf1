//! Memory and CPU of the sidecar: without a client, and with the informers of a controller.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;

use super::container::{Container, Memory};
use super::stage::{Beside, Stage};

/// The amounts of a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Amounts {
    /// Objects of the largest resource.
    pub(super) objects: u32,
    /// Changes of these objects per second.
    pub(super) changes_a_second: u32,
    /// Duration of each measurement.
    pub(super) seconds: u32,
}

/// One state of the sidecar.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Usage {
    pub(super) state: State,
    /// At the end of the measurement.
    pub(super) memory: Memory,
    /// Share of one CPU, in thousandths.
    pub(super) cpu_millis: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    NoClient,
    /// Informers that have their initial lists. The peak is that since the start, so it includes the lists.
    Informers,
    /// The same informers while objects change.
    Changes,
}

/// All states, and the conditions that they share.
#[derive(Debug, Serialize)]
pub(super) struct Idle {
    pub(super) usages: Vec<Usage>,
    pub(super) amounts: Amounts,
    /// The number of informers, and of objects that they have in all.
    pub(super) informers: u64,
    pub(super) objects: u64,
    /// The limit of the memory, in bytes.
    pub(super) limit: u64,
    /// Requests and limits of the sidecar, as `inject` writes them.
    pub(super) resources: Value,
}

/// The pod `changing` makes the changes.
pub(super) fn measure(stage: &Stage<'_>, changing: &str, amounts: Amounts) -> Result<Idle> {
    stage.task(changing, &["create", &amounts.objects.to_string()])?;
    let without_client = sidecar(stage, &stage.run("idle", "wait", Beside::Watchtap)?)?;
    let pod = stage.run("informers", "informers", Beside::Watchtap)?;
    let synced = stage.namespace.follow_logs("informers", "app")?.next_line()?;
    let synced: Value = serde_json::from_str(&synced).with_context(|| format!("the informers printed {synced:?}"))?;
    let with_informers = sidecar(stage, &pod)?;

    let window = Window::begin([&without_client, &with_informers])?;
    thread::sleep(Duration::from_secs(amounts.seconds.into()));
    let [no_client, informers] = window.end([State::NoClient, State::Informers])?;

    with_informers.forget_peak()?;
    let window = Window::begin([&with_informers])?;
    let rate = amounts.changes_a_second.to_string();
    stage.task(changing, &["change", &rate, &amounts.seconds.to_string()])?;
    let [changes] = window.end([State::Changes])?;

    let number = |name: &str| synced[name].as_u64().with_context(|| format!("no {name} in {synced}"));
    let idle = Idle {
        usages: vec![no_client, informers, changes],
        amounts,
        informers: number("informers")?,
        objects: number("objects")?,
        limit: with_informers.limit()?,
        resources: pod["spec"]["initContainers"][0]["resources"].clone(),
    };
    for pod in ["idle", "informers"] {
        stage.namespace.delete(&format!("pod/{pod}"))?;
    }
    Ok(idle)
}

fn sidecar(stage: &Stage<'_>, pod: &Value) -> Result<Container> {
    Container::first_of(stage.node, pod, "initContainerStatuses")
}

/// A time in which the CPU time of some containers is counted.
struct Window<'c, const N: usize> {
    begun: Instant,
    containers: [(&'c Container, Duration); N],
}

impl<'c, const N: usize> Window<'c, N> {
    fn begin(containers: [&'c Container; N]) -> Result<Self> {
        let mut counted = Vec::new();
        for container in containers {
            counted.push((container, container.cpu()?));
        }
        let containers = counted.try_into().ok().context("as many as there are")?;
        Ok(Self { begun: Instant::now(), containers })
    }

    fn end(self, states: [State; N]) -> Result<[Usage; N]> {
        let seconds = self.begun.elapsed().as_secs_f64();
        let mut usages = Vec::new();
        for ((container, before), state) in self.containers.into_iter().zip(states) {
            let cpu = container.cpu()?.saturating_sub(before);
            usages.push(Usage { state, memory: container.memory()?, cpu_millis: cpu.as_secs_f64() * 1000.0 / seconds });
        }
        usages.try_into().ok().context("as many as there are")
    }
}
