//! Memory over time, and by how much it rises.

use std::time::Duration;

use anyhow::{Result, ensure};

use crate::process_usage::ProcessUsage;

/// What was held at which time since the beginning.
#[derive(Debug, Default)]
pub struct UsageSamples(Vec<(Duration, ProcessUsage)>);

impl UsageSamples {
    /// Adds what was held at that time.
    pub fn add(&mut self, at: Duration, usage: ProcessUsage) {
        self.0.push((at, usage));
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The most of the last third over the most of the first third, in bytes, without the first fifth of all, which is for warming up; nothing
    /// where it falls.
    ///
    /// How much is held depends on what happens at the moment, a run of kubectl more or less. The most of a third of the time does so
    /// far less than any single value; and what leaks, leaks from third to third.
    pub fn rise(&self) -> Result<u64> {
        let measured: Vec<u64> = self.0.iter().skip(self.0.len() / 5).map(|(_, usage)| usage.resident).collect();
        let third = measured.len() / 3;
        ensure!(third > 0, "three samples or more are needed: {measured:?}");
        let most = |part: &[u64]| part.iter().copied().max().unwrap_or_default();
        Ok(most(&measured[measured.len() - third..]).saturating_sub(most(&measured[..third])))
    }

    /// For people: some twenty of the samples and the last, in KiB.
    pub fn summary(&self) -> String {
        let step = self.0.len().div_ceil(20).max(1);
        let shown = self.0.iter().step_by(step).chain(self.0.last());
        let line = |(at, usage): &(Duration, ProcessUsage)| {
            format!(
                "{:>4} s: {} KiB resident, {} KiB anonymous, {} descriptors\n",
                at.as_secs(),
                usage.resident >> 10,
                usage.anonymous >> 10,
                usage.descriptors
            )
        };
        shown.map(line).collect()
    }
}

#[test]
fn rise_is_from_third_to_third() {
    let sample = |resident| ProcessUsage { resident, anonymous: 0, descriptors: 0, processor_time: Duration::ZERO };
    let mut samples = UsageSamples::default();
    for (second, resident) in [90, 10, 12, 11, 99, 50, 20, 15, 17].into_iter().enumerate() {
        samples.add(Duration::from_secs(second as u64), sample(resident));
    }
    // Without the first: 10 12 | 11 99 50 20 | 15 17.
    assert_eq!(samples.rise().unwrap(), 5);
    assert!(UsageSamples(samples.0.split_off(7)).rise().is_err(), "of two samples nothing can be told");
}
