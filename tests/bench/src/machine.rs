//! On what the figures were taken, and whether it was quiet.

use std::fmt;
use std::fs;

use serde::Serialize;

/// The machine as it was before a run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    cpus: usize,
    model: String,
    /// Processes that ran or wanted to, on average of the last minute.
    load: f64,
}

/// With less than a tenth of its CPUs in use a machine is quiet.
const QUIET: f64 = 0.1;

impl Machine {
    /// Looks at `/proc`.
    pub(crate) fn now() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model =
            cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':').map(|(_, model)| model.trim()));
        let loadavg = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            cpus: std::thread::available_parallelism().map_or(1, Into::into),
            model: model.unwrap_or("unknown CPUs").to_owned(),
            load: loadavg.split_whitespace().next().and_then(|load| load.parse().ok()).unwrap_or_default(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 CPUs")]
    fn is_quiet(&self) -> bool {
        self.load <= QUIET * self.cpus as f64
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpus, model, load } = self;
        write!(formatter, "Taken on {cpus} × {model}, load {load:.1} before the run")?;
        if self.is_quiet() {
            return formatter.write_str(".");
        }
        formatter.write_str(": **not a quiet machine, so these are preliminary.**")
    }
}

#[cfg(test)]
mod tests {
    use super::Machine;

    #[test]
    fn figures_of_a_busy_machine_say_so() {
        let machine = |load| Machine { cpus: 2, model: "CPU".to_owned(), load };
        assert_eq!(machine(0.2).to_string(), "Taken on 2 × CPU, load 0.2 before the run.");
        assert!(machine(0.3).to_string().ends_with("**not a quiet machine, so these are preliminary.**"));
    }
}
