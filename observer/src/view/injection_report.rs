//! The report of `watchtap inject` and `watchtap uninject`: what happened to each object, or why nothing did.

use serde::Serialize;

use super::quantity::counted;
use crate::injection::{Led, ObjectOutcome, Outcome};
use crate::printable::{Printable, json};

/// Schema of the report of `inject` and `uninject` with `--format json`.
pub const INJECTION_SCHEMA: &str = "watchtap.injection/v1";

/// The results of one input.
#[derive(Clone, Debug)]
pub(crate) struct InjectedFile {
    pub(crate) name: String,
    pub(crate) objects: Vec<ObjectOutcome>,
    /// The number of objects without a pod.
    pub(crate) others: usize,
}

/// A line for each object with a pod, a line for each container that none of them has, and a summary. With `only_checks`, nothing was
/// written.
pub(crate) fn injection_text(files: &[InjectedFile], missing_containers: &[&str], only_checks: bool) -> Printable {
    let mut out = Printable::new();
    for file in files {
        for object in &file.objects {
            let place = format!("watchtap: {}:{}: {}", file.name, object.line, name(object));
            out.append(&Printable::paragraph(format_args!("{place}: {}", result(&object.outcome, only_checks))));
            for warning in warnings(&object.outcome) {
                out.append(&Printable::paragraph(format_args!("{place}: warning: {warning}")));
            }
        }
    }
    for missing in missing_containers {
        let line = Printable::paragraph(format_args!(
            "watchtap: no pod has a container {missing}, which --container names: check the name"
        ));
        out.append(&line);
    }
    out.append(&Printable::paragraph(format_args!("watchtap: {}", summary(files, only_checks))));
    out
}

fn name(object: &ObjectOutcome) -> String {
    let namespace = object.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
    format!("{} {namespace}{}", object.kind, object.name)
}

fn result(outcome: &Outcome, only_checks: bool) -> String {
    let done = done(outcome, only_checks);
    match outcome {
        Outcome::Injected { led, .. } | Outcome::Updated { led, .. } | Outcome::UpToDate { led, .. } => {
            format!("{done}: {}", ports(led))
        }
        Outcome::Uninjected => done,
        Outcome::NotInjected => "unchanged: it has no sidecar".to_owned(),
        Outcome::NotSelected => "unchanged: it has no such container".to_owned(),
        Outcome::Passed(refusal) | Outcome::Refused(refusal) => format!("{done}: {}; {}", refusal.reason, refusal.remedy),
    }
}

fn ports(led: &[Led]) -> String {
    let ports: Vec<String> = led.iter().map(|led| format!("{} by port {}", led.container, led.port)).collect();
    ports.join(", ")
}

fn warnings(outcome: &Outcome) -> &[String] {
    match outcome {
        Outcome::Injected { warnings, .. } | Outcome::Updated { warnings, .. } | Outcome::UpToDate { warnings, .. } => warnings,
        Outcome::Uninjected | Outcome::NotInjected | Outcome::NotSelected | Outcome::Passed(_) | Outcome::Refused(_) => &[],
    }
}

/// The word for an outcome, in text.
fn done(outcome: &Outcome, only_checks: bool) -> String {
    let changes = matches!(outcome, Outcome::Injected { .. } | Outcome::Updated { .. } | Outcome::Uninjected);
    let would_be = if only_checks && changes { "would be " } else { "" };
    format!("{would_be}{}", word(outcome))
}

/// The word for an outcome, in reports that programs read.
const fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Injected { .. } => "injected",
        Outcome::Updated { .. } => "updated",
        Outcome::UpToDate { .. } => "up to date",
        Outcome::Uninjected => "uninjected",
        Outcome::NotInjected | Outcome::NotSelected => "unchanged",
        Outcome::Passed(_) => "not injected",
        Outcome::Refused(_) => "refused",
    }
}

fn summary(files: &[InjectedFile], only_checks: bool) -> String {
    const WORDS: [&str; 7] = ["injected", "updated", "up to date", "uninjected", "unchanged", "not injected", "refused"];
    let outcomes = || files.iter().flat_map(|file| &file.objects).map(|object| &object.outcome);
    let parts = WORDS.into_iter().filter_map(|wanted| {
        let first = outcomes().find(|outcome| word(outcome) == wanted)?;
        let number = outcomes().filter(|outcome| word(outcome) == wanted).count();
        Some(format!("{number} {}", done(first, only_checks)))
    });
    let parts: Vec<String> = parts.collect();
    let pods = if parts.is_empty() { "no object has a pod".to_owned() } else { parts.join(", ") };
    match files.iter().map(|file| file.others).sum::<usize>() {
        0 => pods,
        others => format!("{pods}; {} without a pod unchanged", counted(u64::try_from(others).unwrap_or(u64::MAX), "object")),
    }
}

#[derive(Serialize)]
struct Document<'f> {
    schema: &'static str,
    watchtap: &'static str,
    objects: Vec<ObjectRow<'f>>,
    /// Objects without a pod.
    others: usize,
    /// Names of containers to observe that no object has.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    missing_containers: &'f [&'f str],
}

#[derive(Serialize)]
struct ObjectRow<'f> {
    file: &'f str,
    line: usize,
    kind: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'f str>,
    name: &'f str,
    result: &'static str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    observed: Vec<ObservedContainer<'f>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'f [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<&'f str>,
}

#[derive(Serialize)]
struct ObservedContainer<'f> {
    container: &'f str,
    port: u16,
}

/// The same as one JSON object.
pub(crate) fn injection_json<'f>(files: &'f [InjectedFile], missing_containers: &'f [&'f str]) -> serde_json::Result<Printable> {
    let objects = files.iter().flat_map(|file| file.objects.iter().map(|object| row(&file.name, object))).collect();
    let others = files.iter().map(|file| file.others).sum();
    json(&Document { schema: INJECTION_SCHEMA, watchtap: env!("CARGO_PKG_VERSION"), objects, others, missing_containers })
}

fn row<'f>(file: &'f str, object: &'f ObjectOutcome) -> ObjectRow<'f> {
    let led = match &object.outcome {
        Outcome::Injected { led, .. } | Outcome::Updated { led, .. } | Outcome::UpToDate { led, .. } => led.as_slice(),
        Outcome::Uninjected | Outcome::NotInjected | Outcome::NotSelected | Outcome::Passed(_) | Outcome::Refused(_) => &[],
    };
    let refusal = match &object.outcome {
        Outcome::Passed(refusal) | Outcome::Refused(refusal) => Some(refusal),
        Outcome::Injected { .. }
        | Outcome::Updated { .. }
        | Outcome::UpToDate { .. }
        | Outcome::Uninjected
        | Outcome::NotInjected
        | Outcome::NotSelected => None,
    };
    ObjectRow {
        file,
        line: object.line,
        kind: &object.kind,
        namespace: object.namespace.as_deref(),
        name: &object.name,
        result: word(&object.outcome),
        observed: led.iter().map(|led| ObservedContainer { container: &led.container, port: led.port }).collect(),
        warnings: warnings(&object.outcome),
        reason: refusal.map(|refusal| refusal.reason.as_str()),
        remedy: refusal.map(|refusal| refusal.remedy.as_str()),
    }
}
