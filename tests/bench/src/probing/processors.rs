//! The processors of a measurement. The client has one and the server another, so the scheduler's choices do not differ between modes.

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors that this process may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Processors {
    allowed: CpuSet,
    /// The number of the first one.
    of_client: usize,
    /// The number of the last one.
    of_server: usize,
}

impl Processors {
    /// Asks the kernel.
    pub(super) fn allowed() -> Result<Self> {
        let allowed = sched_getaffinity(None).context("the allowed processors are unknown")?;
        let of_client = numbers(&allowed).next().context("no processor is allowed")?;
        Ok(Self { allowed, of_client, of_server: numbers(&allowed).last().unwrap_or(of_client) })
    }

    /// The numbers of all of them.
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> {
        numbers(&self.allowed)
    }

    /// Calls `start` on the processor of the client. Processes that it starts stay there.
    pub(super) fn on_that_of_the_client<T>(&self, start: impl FnOnce() -> Result<T>) -> Result<T> {
        self.on(self.of_client, start)
    }

    /// Calls `start` on the processor of the server. Processes that it starts stay there.
    pub(super) fn on_that_of_the_server<T>(&self, start: impl FnOnce() -> Result<T>) -> Result<T> {
        self.on(self.of_server, start)
    }

    /// Calls `start` on processor `number`. Processes that it starts stay there.
    pub(super) fn on<T>(&self, number: usize, start: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut one = CpuSet::new();
        one.set(number);
        sched_setaffinity(None, &one)?;
        let outcome = start();
        sched_setaffinity(None, &self.allowed)?;
        outcome
    }
}

fn numbers(set: &CpuSet) -> impl Iterator<Item = usize> {
    (0..CpuSet::MAX_CPU).filter(|number| set.is_set(*number))
}
