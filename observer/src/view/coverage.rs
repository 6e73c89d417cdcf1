//! The output of `watchtap status`: how many pods have the sidecar that they request, and why others have none.

use std::iter;

use serde::Serialize;

use super::colour::{Colour, Tone};
use super::quantity::counted;
use super::table::{Align, Cell, Table};
use crate::coverage::{Admission, Coverage, PodRow, Rule, RuleKind, Scope, Sidecar, Standing, Workload};
use crate::pod_layout::{LABEL, LABEL_VALUE};
use crate::printable::{Printable, json};

/// Schema of `status --format json`.
pub const STATUS_SCHEMA: &str = "watchtap.status/v1";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The totals, a line for the rules of admission, a table of workloads, and one of pods. Each pod without a sidecar has its reason.
pub(crate) fn coverage_text(coverage: &Coverage, colour: Colour) -> Printable {
    let mut out = Printable::new();
    out.append(&colour.paint(Tone::Heading, totals(coverage)));
    out.end_line();
    out.push_line(admission(&coverage.admission));
    if coverage.pods.is_empty() {
        advice(coverage, &mut out);
        return out;
    }
    out.end_line();
    workloads(coverage).render(colour, &mut out);
    out.end_line();
    pods(coverage).render(colour, &mut out);
    let others = coverage.pods.iter().filter(|pod| is_of_another_version(pod)).count();
    if others > 0 {
        out.end_line();
        out.push_line(format_args!(
            "{} from another version than {VERSION}; a restart of the workload updates it",
            sidecars(others)
        ));
    }
    out
}

fn sidecars(number: usize) -> String {
    counted(number as u64, "sidecar")
}

fn totals(coverage: &Coverage) -> String {
    let scope = coverage.scope.in_words();
    let number = |standing| coverage.number_of(standing);
    let (with, without) = (number(Standing::With), number(Standing::Without));
    let total = match with + without {
        0 => format!("no pod in {scope} requests a sidecar"),
        1 => format!("1 pod in {scope} requests a sidecar: {with} with, {without} without"),
        pods => format!("{pods} pods in {scope} request a sidecar: {with} with, {without} without"),
    };
    let others = [(number(Standing::Finished), "finished without one"), (number(Standing::Leaving), "being deleted")];
    let others = others.into_iter().filter(|(pods, _)| *pods > 0).map(|(pods, words)| format!("{pods} more {words}"));
    iter::once(total).chain(others).collect::<Vec<_>>().join(" · ")
}

fn admission(admission: &Admission) -> String {
    match admission {
        Admission::Unknown(why) => format!("webhook: unknown, {why}"),
        Admission::Known(rules) if rules.is_empty() => {
            format!("webhook: none, and no policy; nothing adds a sidecar to pods with the label {LABEL}")
        }
        Admission::Known(rules) => {
            let words = |rule: &Rule| {
                let pending = match rule.kind {
                    RuleKind::Webhook { has_ca_bundle: false } => " (no caBundle yet)",
                    RuleKind::Webhook { has_ca_bundle: true } | RuleKind::Policy => "",
                };
                format!("{}: {}{pending}", rule.kind.word(), rule.name)
            };
            rules.iter().map(words).collect::<Vec<_>>().join(" · ")
        }
    }
}

/// Instructions, if no pod has the label.
fn advice(coverage: &Coverage, out: &mut Printable) {
    out.end_line();
    if matches!(&coverage.admission, Admission::Known(rules) if rules.is_empty()) {
        out.push_line("First install the webhook with the chart (deploy/README.md).");
    }
    let namespace = match &coverage.scope {
        Scope::AllNamespaces => "NAMESPACE",
        Scope::Namespace(name) => name,
    };
    out.push_line("Label the pods of a workload to request a sidecar. Its pods are replaced, and each new one gets its own:");
    out.end_line();
    let patch = format!(r#"{{"spec":{{"template":{{"metadata":{{"labels":{{"{LABEL}":"{LABEL_VALUE}"}}}}}}}}}}"#);
    out.push_line(format_args!("    kubectl patch deployment NAME --namespace {namespace} --type merge --patch '{patch}'"));
    out.end_line();
    out.push_line("A pod that `watchtap inject` has changed needs no label, and is not counted here without one.");
}

fn workloads(coverage: &Coverage) -> Table {
    let columns = [
        ("NAMESPACE", Align::Left),
        ("WORKLOAD", Align::Left),
        ("WITH", Align::Right),
        ("WITHOUT", Align::Right),
        ("FINISHED", Align::Right),
        ("BEING DELETED", Align::Right),
    ];
    let mut table = Table::new(&columns);
    for row in &coverage.workloads {
        let without = if row.without == 0 { Tone::Plain } else { Tone::Bad };
        let cells = vec![
            Cell::new(&row.namespace),
            Cell::new(&row.workload),
            Cell::new(row.with),
            Cell::toned(row.without, without),
            Cell::new(row.finished),
            Cell::new(row.leaving),
        ];
        table.row(cells, Vec::new());
    }
    table
}

fn pods(coverage: &Coverage) -> Table {
    let columns = [("NAMESPACE", Align::Left), ("POD", Align::Left), ("SIDECAR", Align::Left), ("VERSION", Align::Left)];
    let mut table = Table::new(&columns);
    for pod in &coverage.pods {
        let cells = vec![
            Cell::new(&pod.namespace),
            Cell::new(&pod.name),
            Cell::toned(word(pod), tone(pod)),
            Cell::new(pod.version.as_deref().unwrap_or("-")),
        ];
        let reason = if has_open_reason(pod) { reason(&pod.sidecar) } else { None };
        table.row(cells, reason.into_iter().collect());
    }
    table
}

fn word(pod: &PodRow) -> String {
    let word = pod.sidecar.word();
    match pod.standing {
        Standing::With | Standing::Without => word.to_owned(),
        Standing::Finished => format!("{word}, pod finished"),
        Standing::Leaving => format!("{word}, being deleted"),
    }
}

/// Whether there is still something to do. The next pod of the workload is refused for the same reason as one that has finished.
const fn has_open_reason(pod: &PodRow) -> bool {
    match pod.standing {
        Standing::With | Standing::Without => true,
        Standing::Finished => matches!(pod.sidecar, Sidecar::Refused(_) | Sidecar::Removed),
        Standing::Leaving => false,
    }
}

fn tone(pod: &PodRow) -> Tone {
    match (pod.standing, &pod.sidecar) {
        (Standing::With, _) => Tone::Good,
        (Standing::Finished | Standing::Leaving, _) => Tone::Quiet,
        (Standing::Without, Sidecar::Starting(_)) => Tone::Notable,
        (Standing::Without, _) => Tone::Bad,
    }
}

/// The reason and the remedy on one line.
fn reason(sidecar: &Sidecar) -> Option<String> {
    let why = sidecar.why()?;
    Some(sidecar.remedy().map_or_else(|| why.to_owned(), |remedy| format!("{why}; {remedy}")))
}

fn is_of_another_version(pod: &PodRow) -> bool {
    pod.standing == Standing::With && pod.version.as_deref().is_some_and(|version| version != VERSION)
}

#[derive(Serialize)]
struct Document<'c> {
    schema: &'static str,
    watchtap: &'static str,
    /// Absent for all namespaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'c str>,
    label: String,
    with: usize,
    without: usize,
    finished_without: usize,
    being_deleted: usize,
    admission: AdmissionPart<'c>,
    workloads: Vec<WorkloadPart<'c>>,
    pods: Vec<PodPart<'c>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum AdmissionPart<'c> {
    Known { rules: Vec<RulePart<'c>> },
    Unknown { unknown: &'c str },
}

#[derive(Serialize)]
struct RulePart<'c> {
    kind: &'static str,
    name: &'c str,
    /// Absent for policies.
    #[serde(skip_serializing_if = "Option::is_none")]
    has_ca_bundle: Option<bool>,
}

#[derive(Serialize)]
struct WorkloadPart<'c> {
    namespace: &'c str,
    kind: &'c str,
    name: &'c str,
    with: usize,
    without: usize,
    finished_without: usize,
    being_deleted: usize,
}

#[derive(Serialize)]
struct PodPart<'c> {
    namespace: &'c str,
    name: &'c str,
    workload: OwnerPart<'c>,
    sidecar: &'static str,
    counts: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<&'c str>,
}

#[derive(Serialize)]
struct OwnerPart<'c> {
    kind: &'c str,
    name: &'c str,
}

impl<'c> From<&'c Workload> for OwnerPart<'c> {
    fn from(workload: &'c Workload) -> Self {
        Self { kind: &workload.kind, name: &workload.name }
    }
}

/// The same as one JSON object.
pub(crate) fn coverage_json(coverage: &Coverage) -> serde_json::Result<Printable> {
    let namespace = match &coverage.scope {
        Scope::AllNamespaces => None,
        Scope::Namespace(name) => Some(name.as_str()),
    };
    let workloads = coverage.workloads.iter().map(|row| WorkloadPart {
        namespace: &row.namespace,
        kind: &row.workload.kind,
        name: &row.workload.name,
        with: row.with,
        without: row.without,
        finished_without: row.finished,
        being_deleted: row.leaving,
    });
    let document = Document {
        schema: STATUS_SCHEMA,
        watchtap: VERSION,
        namespace,
        label: format!("{LABEL}={LABEL_VALUE}"),
        with: coverage.number_of(Standing::With),
        without: coverage.number_of(Standing::Without),
        finished_without: coverage.number_of(Standing::Finished),
        being_deleted: coverage.number_of(Standing::Leaving),
        admission: admission_part(&coverage.admission),
        workloads: workloads.collect(),
        pods: coverage.pods.iter().map(pod_part).collect(),
    };
    json(&document)
}

fn admission_part(admission: &Admission) -> AdmissionPart<'_> {
    match admission {
        Admission::Unknown(unknown) => AdmissionPart::Unknown { unknown },
        Admission::Known(rules) => {
            let rules = rules.iter().map(|rule| RulePart {
                kind: rule.kind.word(),
                name: &rule.name,
                has_ca_bundle: match rule.kind {
                    RuleKind::Webhook { has_ca_bundle } => Some(has_ca_bundle),
                    RuleKind::Policy => None,
                },
            });
            AdmissionPart::Known { rules: rules.collect() }
        }
    }
}

fn pod_part(pod: &PodRow) -> PodPart<'_> {
    PodPart {
        namespace: &pod.namespace,
        name: &pod.name,
        workload: (&pod.workload).into(),
        sidecar: pod.sidecar.word(),
        counts: match pod.standing {
            Standing::With => "with",
            Standing::Without => "without",
            Standing::Finished => "finished-without",
            Standing::Leaving => "being-deleted",
        },
        version: pod.version.as_deref(),
        why: pod.sidecar.why(),
        remedy: pod.sidecar.remedy(),
    }
}
