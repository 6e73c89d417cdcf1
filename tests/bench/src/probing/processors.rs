//! The processors of a measurement. The client has one and the server another, so the scheduler's choices do not differ between modes.

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors that this process may use.
#[derive(Clone, Debug)]
pub(super) struct Processors {
    allowed: CpuSet,
    numbers: Vec<usize>,
}

impl Processors {
    /// Asks the kernel.
    pub(super) fn allowed() -> Result<Self> {
        let allowed = sched_getaffinity(None).context("the allowed processors are unknown")?;
        let numbers = (0..CpuSet::MAX_CPU).filter(|number| allowed.is_set(*number)).collect();
        Ok(Self { allowed, numbers })
    }

    /// The numbers of all of them.
    pub(super) fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// Calls `start` on the first processor. Processes that it starts stay there.
    pub(super) fn on_that_of_the_client<T>(&self, start: impl FnOnce() -> Result<T>) -> Result<T> {
        self.on(self.numbers.first(), start)
    }

    /// Calls `start` on the last processor. Processes that it starts stay there.
    pub(super) fn on_that_of_the_server<T>(&self, start: impl FnOnce() -> Result<T>) -> Result<T> {
        self.on(self.numbers.last(), start)
    }

    /// Calls `start` on processor `number`. Processes that it starts stay there.
    pub(super) fn on<T>(&self, number: Option<&usize>, start: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut one = CpuSet::new();
        one.set(*number.context("no processor is allowed")?);
        sched_setaffinity(None, &one)?;
        let outcome = start();
        sched_setaffinity(None, &self.allowed)?;
        outcome
    }
}
