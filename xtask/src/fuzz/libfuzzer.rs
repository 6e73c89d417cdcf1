//! Parses the output of libFuzzer (llvm/llvm-project `compiler-rt/lib/fuzzer`), line by line.

/// The statistics in the lines read so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) executions: u64,
    /// Edges of the program that inputs have covered.
    pub(super) coverage: u64,
    /// libFuzzer's features: covered edges, together with how often they were taken, and which values were compared.
    pub(super) features: u64,
    /// Number of inputs that were kept, because each has a feature that no other input has.
    pub(super) corpus: u64,
    pub(super) peak_rss_mb: u64,
    /// The file with the input on which the target failed.
    pub(super) find: Option<String>,
}

impl Progress {
    /// Parses the next line. Returns whether it is a progress report.
    pub(super) fn line(&mut self, line: &str) -> bool {
        if let Some((_, path)) = line.split_once("Test unit written to ") {
            self.find = Some(path.trim().to_owned());
            return false;
        }
        if let Some(statistic) = line.strip_prefix("stat::") {
            self.statistic(statistic);
            return false;
        }
        let Some((executions, rest)) = line.strip_prefix('#').and_then(|rest| rest.split_once(['\t', ' '])) else { return false };
        let Ok(executions) = executions.parse() else { return false };
        self.executions = executions;
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        for pair in words.windows(2) {
            self.pair(pair);
        }
        true
    }

    /// Parses a line of the final statistics, such as `number_of_executed_units: 1234`.
    fn statistic(&mut self, line: &str) {
        let Some((name, value)) = line.split_once(':') else { return };
        let Ok(value) = value.trim().parse() else { return };
        match name {
            "number_of_executed_units" => self.executions = value,
            "peak_rss_mb" => self.peak_rss_mb = value,
            _ => {}
        }
    }

    /// Parses a name and its value in a progress report, such as `cov: 42`, `corp: 7/512b` or `rss: 36Mb`.
    fn pair(&mut self, pair: &[&str]) {
        let [name, value] = pair else { return };
        let digits = value.split(|character: char| !character.is_ascii_digit()).next().unwrap_or_default();
        let Ok(value) = digits.parse() else { return };
        match *name {
            "cov:" => self.coverage = value,
            "ft:" => self.features = value,
            "corp:" => self.corpus = value,
            "rss:" => self.peak_rss_mb = self.peak_rss_mb.max(value),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pulse_and_statistics_are_read() {
        let mut progress = Progress::default();
        assert!(!progress.line("INFO: Running with entropic power schedule (0xFF, 100)."));
        assert!(progress.line("#65536\tpulse  cov: 1421 ft: 5113 corp: 312/41Kb lim: 4096 exec/s: 21845 rss: 67Mb"));
        let so_far = Progress { executions: 65_536, coverage: 1421, features: 5113, corpus: 312, peak_rss_mb: 67, find: None };
        assert_eq!(progress, so_far);
        assert!(!progress.line("stat::number_of_executed_units: 70001"));
        assert!(!progress.line("stat::peak_rss_mb:              71"));
        assert_eq!(progress, Progress { executions: 70_001, peak_rss_mb: 71, ..so_far });
    }

    #[test]
    fn failing_input_is_found() {
        let mut progress = Progress::default();
        assert!(!progress.line("artifact_prefix='target/finds/'; Test unit written to target/finds/crash-0a1b"));
        assert_eq!(progress.find.as_deref(), Some("target/finds/crash-0a1b"));
    }

    #[test]
    fn target_output_is_not_taken_for_progress() {
        let mut progress = Progress::default();
        for line in ["# a heading", "#abc\tcov: 1", "==123==ERROR: AddressSanitizer", "cov: 7"] {
            assert!(!progress.line(line), "{line}");
        }
        assert_eq!(progress, Progress::default());
    }
}
