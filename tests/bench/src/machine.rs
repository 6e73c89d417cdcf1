//! Describes the machine of a measurement, and checks whether other processes were busy.

use std::fmt;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

use serde::Serialize;

/// The machine before a run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    cpus: usize,
    model: String,
    /// Number of CPUs that other processes kept busy. The load average would include the preceding build.
    busy_cpus: f64,
}

/// Duration of the check for other processes.
const LOOK: Duration = Duration::from_secs(2);

/// A machine is quiet if less than this share of its CPUs is in use.
const QUIET: f64 = 0.1;

impl Machine {
    /// Samples `/proc` for two seconds.
    pub(crate) fn now() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model =
            cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':').map(|(_, model)| model.trim()));
        let cpus = std::thread::available_parallelism().map_or(1, Into::into);
        let before = CpuTime::now();
        sleep(LOOK);
        let busy_cpus = CpuTime::now().busy_since(before) * as_float(cpus as u64);
        Self { cpus, model: model.unwrap_or("unknown CPUs").to_owned(), busy_cpus }
    }

    fn is_quiet(&self) -> bool {
        self.busy_cpus <= QUIET * as_float(self.cpus as u64)
    }
}

/// CPU time since boot, in clock ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CpuTime {
    all: u64,
    idle: u64,
}

impl CpuTime {
    fn now() -> Self {
        Self::parse(&fs::read_to_string("/proc/stat").unwrap_or_default())
    }

    /// The first line of `/proc/stat`, `proc_stat(5)`: user, nice, system, idle, iowait, irq, softirq, steal; guests are in the
    /// first two.
    fn parse(stat: &str) -> Self {
        let first = stat.lines().next().and_then(|line| line.strip_prefix("cpu ")).unwrap_or_default();
        let ticks: Vec<u64> = first.split_whitespace().take(8).filter_map(|ticks| ticks.parse().ok()).collect();
        Self { all: ticks.iter().sum(), idle: ticks.iter().skip(3).take(2).sum() }
    }

    /// The share of the time since `before` that was not idle, from 0 to 1.
    fn busy_since(self, before: Self) -> f64 {
        let all = self.all.saturating_sub(before.all);
        let idle = self.idle.saturating_sub(before.idle);
        as_float(all.saturating_sub(idle)) / as_float(all.max(1))
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 CPUs, or ticks")]
const fn as_float(number: u64) -> f64 {
    number as f64
}
impl fmt::Display for Machine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpus, model, busy_cpus } = self;
        write!(formatter, "Taken on {cpus} × {model}, of which others used {busy_cpus:.1} before the run")?;
        if self.is_quiet() {
            return formatter.write_str(".");
        }
        formatter.write_str(": **not a quiet machine, so these are preliminary.**")
    }
}

#[cfg(test)]
mod tests {
    use super::{CpuTime, Machine};

    #[test]
    fn figures_from_a_busy_machine_are_marked_preliminary() {
        let machine = |busy_cpus| Machine { cpus: 2, model: "CPU".to_owned(), busy_cpus };
        assert_eq!(machine(0.2).to_string(), "Taken on 2 × CPU, of which others used 0.2 before the run.");
        assert!(machine(0.3).to_string().ends_with("**not a quiet machine, so these are preliminary.**"));
    }

    #[test]
    fn busy_time_excludes_idle_and_disk_wait() {
        let before = CpuTime::parse("cpu  100 0 100 700 100 0 0 0 5 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
        assert_eq!(before, CpuTime { all: 1_000, idle: 800 });
        let after = CpuTime::parse("cpu  110 5 105 770 110 0 0 0 9 0\n");
        assert!((after.busy_since(before) - 0.2).abs() < 1e-9);
        assert!(before.busy_since(before).abs() < 1e-9 && CpuTime::parse("").busy_since(before).abs() < 1e-9);
    }
}
