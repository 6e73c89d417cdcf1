//! The run: a fault occurs and is repaired, and then all conditions must hold again.

use std::time::{Duration, Instant};

use fastrand::Rng;
use observer_tests::UsageSamples;

use super::fault::Fault;
use super::figures::Figures;
use super::testbed::Testbed;

/// The environment variable with the duration in seconds; `CONTRIBUTING.md` describes it.
const SECONDS: &str = "WATCHTAP_TESTS_SOAK_SECONDS";
/// Default duration in seconds, long enough for each fault to occur once.
const USUALLY: u64 = 150;
/// The environment variable with the seed of all random choices: the same seed gives the same faults in the same order.
const SEED: &str = "WATCHTAP_TESTS_SOAK_SEED";
/// Minimum number of memory samples for a verdict on growth.
const SAMPLES: usize = 10;
/// Limit in bytes for the growth of resident memory from the first to the last third of the samples after the warm-up. The
/// observation queues may hold four times that, and the share that the allocator keeps varies.
const MOST_RISE: u64 = 16 << 20;

#[test]
fn faults_cause_no_loss_and_no_memory_growth() {
    let (lasts, seed) = (Duration::from_secs(number(SECONDS, USUALLY)), number(SEED, 1));
    println!("seed {seed}, {} s", lasts.as_secs());
    let mut random = Rng::with_seed(seed);
    let mut testbed = Testbed::set().unwrap();
    // Fills all bounded buffers before the first measurement.
    Fault::ObserverStarved.happen(&mut testbed, &mut random).and_then(|()| testbed.settle()).unwrap();
    let mut figures = Figures::of(seed);
    let mut samples = UsageSamples::default();
    let began = Instant::now();
    for fault in Fault::by_chance(random.fork()) {
        figures.happened(fault);
        let so_far = format!("{:>5} s, {}: {fault}", began.elapsed().as_secs(), figures.faults());
        println!("{so_far}");
        let round = fault.happen(&mut testbed, &mut random).and_then(|()| testbed.settle());
        let usage = round.unwrap_or_else(|error| panic!("seed {seed}, {so_far}: {error:?}"));
        samples.add(began.elapsed(), usage);
        figures.note_usage(usage);
        if began.elapsed() >= lasts && samples.count() >= SAMPLES {
            break;
        }
    }
    figures.lasted = began.elapsed();
    figures.rise = samples.rise().unwrap();
    figures.changes = testbed.changes();
    println!("{}", samples.summary());
    figures.finish(testbed).unwrap();
    println!("{figures}");
    figures.write().unwrap();
    assert!(figures.rise < MOST_RISE, "memory rose by {} bytes", figures.rise);
}

fn number(variable: &str, usually: u64) -> u64 {
    let Ok(text) = std::env::var(variable) else { return usually };
    text.parse().unwrap_or_else(|error| panic!("{variable}={text}: {error}"))
}
