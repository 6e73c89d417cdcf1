//! Formats the results of all targets, one line each.

use std::fmt;

use serde_json::{Value, json};

use super::running::Run;
use super::target::Target;

/// The runs so far.
#[derive(Debug, Default)]
pub(super) struct Summary {
    runs: Vec<(String, Run)>,
}

impl Summary {
    pub(super) fn add(&mut self, target: &Target, run: Run) {
        self.runs.push((target.name.clone(), run));
    }

    pub(super) fn found_nothing(&self) -> bool {
        self.runs.iter().all(|(_, run)| run.find.is_none())
    }

    /// One object per target.
    pub(super) fn to_json(&self) -> Value {
        let object = |(target, run): &(String, Run)| {
            json!({
                "target": target,
                "seconds": run.time.as_secs(),
                "executions": run.last.executions,
                "executions_per_second": run.per_second(),
                "coverage": run.last.coverage,
                "features": run.last.features,
                "corpus": run.last.corpus,
                "peak_rss_mb": run.last.peak_rss_mb,
                "find": run.find,
            })
        };
        self.runs.iter().map(object).collect()
    }
}

impl Run {
    fn per_second(&self) -> u64 {
        self.last.executions / self.time.as_secs().max(1)
    }
}

/// A Markdown table, as in `docs/fuzzing.md`.
impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = ["Target", "Executions", "Seconds", "A second", "Coverage", "Features", "Corpus", "Peak RSS, MB", "Find"];
        let mut lines = vec![
            heads.map(String::from).to_vec(),
            ["---"].into_iter().chain(["---:"; 7]).chain(["---"]).map(String::from).collect(),
        ];
        lines.extend(self.runs.iter().map(|(target, run)| {
            let last = &run.last;
            let numbers = [
                last.executions,
                run.time.as_secs(),
                run.per_second(),
                last.coverage,
                last.features,
                last.corpus,
                last.peak_rss_mb,
            ];
            let find = run.find.as_ref().map_or_else(|| String::from("none"), Clone::clone);
            [target.clone()].into_iter().chain(numbers.map(|number| number.to_string())).chain([find]).collect::<Vec<_>>()
        }));
        lines.iter().try_for_each(|cells| writeln!(formatter, "| {} |", cells.join(" | ")))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::libfuzzer::Progress;
    use super::*;

    #[test]
    fn each_target_has_a_line() {
        let summary = summary();
        let expected = "\
| Target | Executions | Seconds | A second | Coverage | Features | Corpus | Peak RSS, MB | Find |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
| json | 1200000 | 600 | 2000 | 1500 | 6000 | 300 | 420 | none |
| cbor | 10 | 0 | 10 | 1500 | 6000 | 300 | 420 | a/crash-1 |
";
        assert_eq!(summary.to_string(), expected);
        assert!(!summary.found_nothing());
    }

    #[test]
    fn json_matches_the_table() {
        let json = summary().to_json();
        assert_eq!(
            (&json[0]["target"], &json[0]["executions_per_second"], &json[0]["find"]),
            (&json!("json"), &json!(2000), &Value::Null)
        );
        assert_eq!((&json[1]["seconds"], &json[1]["find"]), (&json!(0), &json!("a/crash-1")));
    }

    fn summary() -> Summary {
        let last = Progress { executions: 1_200_000, coverage: 1500, features: 6000, corpus: 300, peak_rss_mb: 420, find: None };
        let clean = Run { time: Duration::from_mins(10), last: last.clone(), find: None };
        let failed = Run {
            time: Duration::from_millis(40),
            last: Progress { executions: 10, ..last },
            find: Some(String::from("a/crash-1")),
        };
        let mut summary = Summary::default();
        for (name, run) in [("json", clean), ("cbor", failed)] {
            summary.add(&Target { name: name.into(), package: "tests/fuzz" }, run);
        }
        summary
    }
}
