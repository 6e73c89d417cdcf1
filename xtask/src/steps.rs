//! Runs the steps of a task, and measures the time of each.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::Context;

/// The steps so far. `Display` writes a table of their durations in seconds.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    taken: Vec<(String, Duration)>,
}

impl Steps {
    /// Runs a step. Prints its name before it, and its duration after it. The error names the step and the remedy.
    pub(crate) fn take(&mut self, name: &str, remedy: &str, work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
        println!("\n== {name}");
        let begun = Instant::now();
        let result = work();
        let took = begun.elapsed();
        self.taken.push((name.to_owned(), took));
        result.with_context(|| format!("stopped at {name}: {remedy}"))?;
        println!("== {name}: sound, {:.1} s", took.as_secs_f64());
        Ok(())
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<16}  {:>8}", "STEP", "SECONDS")?;
        self.taken.iter().try_for_each(|(name, took)| writeln!(f, "{name:<16}  {:>8.1}", took.as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_step_is_in_the_table_and_names_its_remedy() {
        let mut steps = Steps::default();
        steps.take("format", "run rustfmt", || Ok(())).unwrap();
        let error = steps.take("clippy", "fix the warnings", || anyhow::bail!("a warning")).unwrap_err();
        assert_eq!(format!("{error:#}"), "stopped at clippy: fix the warnings: a warning");
        steps.taken.iter_mut().for_each(|(_, took)| *took = Duration::from_millis(1_234));
        assert_eq!(steps.to_string(), "STEP               SECONDS\nformat                 1.2\nclippy                 1.2\n");
    }
}
