//! Samples of memory use over time, and their growth.

use std::time::Duration;

use anyhow::{Result, ensure};

use crate::process_usage::ProcessUsage;

/// The samples, each with its time since the beginning.
#[derive(Debug, Default)]
pub struct UsageSamples(Vec<(Duration, ProcessUsage)>);

impl UsageSamples {
    /// Adds the usage at time `at`.
    pub fn add(&mut self, at: Duration, usage: ProcessUsage) {
        self.0.push((at, usage));
    }

    /// The number of samples.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Growth of resident memory in bytes: the maximum of the last third minus the maximum of the first third, or 0. The first
    /// fifth of all samples is warm-up and does not count.
    ///
    /// Single values vary with the load of the moment, such as a run of kubectl. The maximum over a third of the time varies far
    /// less, and a leak grows from third to third.
    pub fn rise(&self) -> Result<u64> {
        let measured: Vec<u64> = self.0.iter().skip(self.0.len() / 5).map(|(_, usage)| usage.resident).collect();
        let third = measured.len() / 3;
        ensure!(third > 0, "three samples or more are needed: {measured:?}");
        let most = |part: &[u64]| part.iter().copied().max().unwrap_or_default();
        Ok(most(&measured[measured.len() - third..]).saturating_sub(most(&measured[..third])))
    }

    /// For messages: about twenty samples and the last one, in KiB.
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
fn rise_compares_the_first_and_last_third() {
    let sample = |resident| ProcessUsage { resident, peak: resident, anonymous: 0, descriptors: 0, processor_time: Duration::ZERO };
    let mut samples = UsageSamples::default();
    for (second, resident) in [90, 10, 12, 11, 99, 50, 20, 15, 17].into_iter().enumerate() {
        samples.add(Duration::from_secs(second as u64), sample(resident));
    }
    // Without the first (warm-up): 10 12 | 11 99 50 20 | 15 17.
    assert_eq!(samples.rise().unwrap(), 5);
    assert!(UsageSamples(samples.0.split_off(7)).rise().is_err(), "of two samples nothing can be told");
}
