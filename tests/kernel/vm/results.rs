//! The results of the commands in one kernel, compared with what is expected, for people and for the table in docs/probe.md.

use std::fs;
use std::io::Write as _;

use observer_tests::{Ran, StepEnd, VmKernel, kernels_folder};
use serde_json::{Value, json};

use super::expected::Expected;
use super::proofs::{CHECK, STREAMS};
use super::streams::Compared;

/// The requirements with the features that the probe chose.
const CHOICES: [&str; 2] = ["uprobes are attached", "sends and receives of threads"];

/// The requirements that were tried and are not met, with their states.
type Lacking = Vec<(String, String)>;

/// The result of a proof.
pub(super) struct Row {
    name: String,
    /// For the table.
    result: String,
    /// The difference from what is expected, if there is one.
    pub(super) fault: Option<String>,
}

impl Row {
    /// Those of a command: one for each client whose streams it compares, those of the features that the probe chose, or only one.
    pub(super) fn of(step: &StepEnd, expected: &Expected) -> Vec<Self> {
        let fault = fault(step, expected);
        if step.name != STREAMS {
            let verdict = Self { name: step.name.to_owned(), result: result(step), fault };
            return [verdict].into_iter().chain(choices(step)).collect();
        }
        // Losses count for all clients.
        let compared = Compared::read(&step.output).into_iter();
        let rows = compared.map(|Compared { client, is_same }| (client, yes_if(is_same && fault.is_none())));
        let is_other = |result: &str, name: &str| (result != yes_if(true)).then(|| format!("{name}: no line, or other events"));
        rows.map(|(name, result)| Self { fault: fault.clone().or_else(|| is_other(&result, &name)), name, result }).collect()
    }

    /// That of a client whose requests were compared.
    pub(super) fn of_client(name: &str, faults: &[String]) -> Self {
        let fault = (!faults.is_empty()).then(|| format!("{name}: {}", faults.join("; ")));
        Self { name: name.to_owned(), result: yes_if(fault.is_none()), fault }
    }
}

/// How the probe attaches uprobes, and how it finds the sockets of threads, by its check.
fn choices(check: &StepEnd) -> impl Iterator<Item = Row> {
    let output: Value = serde_json::from_str(&check.output).unwrap_or_default();
    let found = move |name: &str| {
        let requirement = output["requirements"].as_array()?.iter().find(|requirement| requirement["name"] == name)?;
        Some(Row { name: name.to_owned(), result: requirement["found"].as_str()?.to_owned(), fault: None })
    };
    CHOICES.into_iter().filter_map(found)
}

/// The difference between the result of a command and the expectation, as text.
fn fault(step: &StepEnd, expected: &Expected) -> Option<String> {
    let StepEnd { name, code, output, .. } = step;
    if step.is_over_time() {
        return Some(format!("{name} did not end in time: {output}"));
    }
    if *name != CHECK {
        // Without the second condition, a test with another name would pass.
        return (*code != 0 || !output.contains("1 passed")).then(|| format!("{name} ended with {code}: {output}"));
    }
    let Ok(output) = serde_json::from_str::<Value>(output) else { return Some(format!("{name} ended with {code}: {output}")) };
    let lacking = lacking(&output);
    let is_same = lacking.iter().map(|(name, state)| (name.as_str(), state.as_str())).eq(expected.lacks.iter().copied());
    let is_expected = is_same && output["can_probe"] == expected.can_probe && (*code == 0) == expected.can_probe;
    (!is_expected).then(|| format!("{name} ended with {code}; expected {expected:?}, not {lacking:?}: {output:#}"))
}

/// Prints the seconds of each command, and writes the results for the table.
pub(super) fn report(kernel: VmKernel, ran: &Ran, rows: &[Row]) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "kernel {}: the first command ran {:.1} s after its start", ran.release, ran.booted).unwrap();
    for StepEnd { name, code, seconds, .. } in &ran.steps {
        writeln!(out, "  {name:<33} {seconds:>6.1} s, exit code {code}").unwrap();
    }
    let rows: Vec<Value> = rows.iter().map(|row| json!({ "name": row.name, "result": row.result })).collect();
    let folder = kernels_folder();
    fs::create_dir_all(&folder).unwrap();
    let content = json!({ "release": ran.release, "rows": rows }).to_string();
    fs::write(folder.join(format!("{}.json", kernel.name())), content).unwrap();
}

fn result(step: &StepEnd) -> String {
    if step.name != CHECK {
        return yes_if(step.code == 0);
    }
    let Ok(output) = serde_json::from_str::<Value>(&step.output) else { return "no".to_owned() };
    let lacking: Vec<String> =
        lacking(&output).into_iter().map(|(name, state)| format!("{}: {name}", state.to_lowercase())).collect();
    let verdict = if output["can_probe"] == true { "can probe" } else { "cannot probe" };
    if lacking.is_empty() { verdict.to_owned() } else { format!("{verdict}; {}", lacking.join("; ")) }
}

fn yes_if(is_proven: bool) -> String {
    if is_proven { "yes".to_owned() } else { "no".to_owned() }
}

fn lacking(output: &Value) -> Lacking {
    let text = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let rows = output["requirements"].as_array().into_iter().flatten();
    // After a requirement that is missing, others are not tried.
    let tried = rows.filter(|row| !text(row, "found").starts_with("not tried"));
    let states = tried.map(|row| (text(row, "name"), text(row, "state")));
    states.filter(|(_, state)| !["Met", "DoesNotMatter"].contains(&state.as_str())).collect()
}
