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

/// A line for each object with a pod, and a summary.
pub(crate) fn injection_text(files: &[InjectedFile]) -> Printable {
    let mut out = Printable::new();
    for file in files {
        for object in &file.objects {
            let place = format!("watchtap: {}:{}: {}", file.name, object.line, name(object));
            out.append(&Printable::paragraph(format_args!("{place}: {}", result(&object.outcome))));
            for warning in warnings(&object.outcome) {
                out.append(&Printable::paragraph(format_args!("{place}: warning: {warning}")));
            }
        }
    }
    out.append(&Printable::paragraph(format_args!("watchtap: {}", summary(files))));
    out
}

fn name(object: &ObjectOutcome) -> String {
    let namespace = object.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
    format!("{} {namespace}{}", object.kind, object.name)
}

fn result(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Injected { led, .. } => format!("injected: {}", ports(led)),
        Outcome::UpToDate { led, .. } => format!("up to date: {}", ports(led)),
        Outcome::Uninjected => "uninjected".to_owned(),
        Outcome::NotInjected => "unchanged: it has no sidecar".to_owned(),
        Outcome::NotSelected => "unchanged: it has no such container".to_owned(),
        Outcome::Refused(refusal) => format!("refused: {}; {}", refusal.reason, refusal.remedy),
    }
}

fn ports(led: &[Led]) -> String {
    let ports: Vec<String> = led.iter().map(|led| format!("{} by port {}", led.container, led.port)).collect();
    ports.join(", ")
}

fn warnings(outcome: &Outcome) -> &[String] {
    match outcome {
        Outcome::Injected { warnings, .. } | Outcome::UpToDate { warnings, .. } => warnings,
        Outcome::Uninjected | Outcome::NotInjected | Outcome::NotSelected | Outcome::Refused(_) => &[],
    }
}

/// The word for an outcome, in reports that programs read.
const fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Injected { .. } => "injected",
        Outcome::UpToDate { .. } => "up to date",
        Outcome::Uninjected => "uninjected",
        Outcome::NotInjected | Outcome::NotSelected => "unchanged",
        Outcome::Refused(_) => "refused",
    }
}

fn summary(files: &[InjectedFile]) -> String {
    const WORDS: [&str; 5] = ["injected", "up to date", "uninjected", "unchanged", "refused"];
    let outcomes = || files.iter().flat_map(|file| &file.objects).map(|object| word(&object.outcome));
    let parts = WORDS.into_iter().filter_map(|wanted| {
        let number = outcomes().filter(|word| *word == wanted).count();
        (number > 0).then(|| format!("{number} {wanted}"))
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
    led: Vec<LedContainer<'f>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'f [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<&'f str>,
}

#[derive(Serialize)]
struct LedContainer<'f> {
    container: &'f str,
    port: u16,
}

/// The same as one JSON object.
pub(crate) fn injection_json(files: &[InjectedFile]) -> serde_json::Result<Printable> {
    let objects = files.iter().flat_map(|file| file.objects.iter().map(|object| row(&file.name, object))).collect();
    let others = files.iter().map(|file| file.others).sum();
    json(&Document { schema: INJECTION_SCHEMA, watchtap: env!("CARGO_PKG_VERSION"), objects, others })
}

fn row<'f>(file: &'f str, object: &'f ObjectOutcome) -> ObjectRow<'f> {
    let led = match &object.outcome {
        Outcome::Injected { led, .. } | Outcome::UpToDate { led, .. } => led.as_slice(),
        Outcome::Uninjected | Outcome::NotInjected | Outcome::NotSelected | Outcome::Refused(_) => &[],
    };
    let refusal = match &object.outcome {
        Outcome::Refused(refusal) => Some(refusal),
        Outcome::Injected { .. } | Outcome::UpToDate { .. } | Outcome::Uninjected | Outcome::NotInjected | Outcome::NotSelected => {
            None
        }
    };
    ObjectRow {
        file,
        line: object.line,
        kind: object.kind,
        namespace: object.namespace.as_deref(),
        name: &object.name,
        result: word(&object.outcome),
        led: led.iter().map(|led| LedContainer { container: &led.container, port: led.port }).collect(),
        warnings: warnings(&object.outcome),
        reason: refusal.map(|refusal| refusal.reason.as_str()),
        remedy: refusal.map(|refusal| refusal.remedy.as_str()),
    }
}
