//! The output of `watchtap explain`.

use observer_core::k8s::{ListOptions, RequestInfo};
use observer_core::observer::VerdictRecord;
use observer_core::routing::{
    CacheState, EtcdSupport, EtcdWrite, Proof, Question, Rule, ServedFrom, ServerProfile, VersionSpan, across_versions, cheaper,
    etcd_writes, route, rule,
};
use observer_core::time::Timestamp;
use serde::Serialize;

use super::colour::{Colour, Tone};
use super::json::EXPLAIN_SCHEMA;
use super::table::{Align, Cell, Table};
use super::verdict::{detail, served_tone};
use crate::printable::{Printable, json};

/// The format of an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainFormat {
    /// Human-readable text.
    Text,
    /// One JSON object.
    Json,
}

/// A request and its explanation.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    schema: &'static str,
    request: String,
    profile: ServerProfile,
    assumptions: Vec<String>,
    /// `None` if no version was given.
    verdict: Option<VerdictRecord>,
    sentence: Option<&'static str>,
    cheaper: Vec<String>,
    /// The calls to etcd that a write makes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    etcd_writes: Vec<EtcdWrite>,
    versions: Vec<VersionSpan>,
}

impl Explained {
    /// Applies the rules; `None` if the request reads and writes no object. `query` is the request's, without `?`.
    pub fn of(request: &str, info: &RequestInfo, query: &str, profile: &ServerProfile) -> Option<Self> {
        let options = &ListOptions::parse(query);
        let question = Question { info, options, profile, cache: CacheState::Ready, history: None, now: Timestamp::default() };
        let verdict = route(&question);
        let etcd_writes = etcd_writes(info, query, profile);
        if verdict.is_none() && etcd_writes.is_empty() {
            return None;
        }
        let verdict = verdict.filter(|_| profile.version.is_some());
        Some(Self {
            schema: EXPLAIN_SCHEMA,
            request: request.to_owned(),
            profile: profile.clone(),
            assumptions: profile.assumptions(),
            sentence: verdict.as_ref().and_then(|verdict| rule(verdict.rule.as_str())).map(|rule| rule.sentence),
            cheaper: if verdict.is_some() { cheaper(&question) } else { Vec::new() },
            verdict: verdict.as_ref().map(VerdictRecord::from),
            etcd_writes,
            versions: across_versions(info, options, profile),
        })
    }
}

/// The explanation of a request.
pub fn explain_request(explained: &Explained, format: ExplainFormat, colour: Colour) -> serde_json::Result<Printable> {
    match format {
        ExplainFormat::Json => json(explained),
        ExplainFormat::Text => Ok(request_text(explained, colour)),
    }
}

/// The explanation of a proof.
pub fn explain_proof(proof: &Proof, format: ExplainFormat, colour: Colour) -> serde_json::Result<Printable> {
    #[derive(Serialize)]
    struct Document<'p> {
        schema: &'static str,
        proof: &'p str,
        sentence: &'p str,
        section: &'p str,
        upstream: &'p str,
    }
    let Proof { id, sentence, section, upstream } = *proof;
    if format == ExplainFormat::Json {
        let document = Document { schema: EXPLAIN_SCHEMA, proof: id.as_str(), sentence, section, upstream };
        return json(&document);
    }
    let mut out = colour.paint(Tone::Heading, id.as_str());
    out.end_line();
    out.end_line();
    for (label, text) in [("proves", sentence), ("upstream", upstream)] {
        line(label, text, &mut out);
    }
    Ok(out)
}

/// The explanation of a rule.
pub fn explain_rule(rule: &Rule, format: ExplainFormat, colour: Colour) -> serde_json::Result<Printable> {
    #[derive(Serialize)]
    struct Document<'r> {
        schema: &'static str,
        rule: &'r str,
        sentence: &'r str,
        etcd_reads: String,
        section: &'r str,
        upstream: &'r str,
    }
    if format == ExplainFormat::Json {
        let document = Document {
            schema: EXPLAIN_SCHEMA,
            rule: rule.id.as_str(),
            sentence: rule.sentence,
            etcd_reads: rule.reads.to_string(),
            section: rule.section,
            upstream: rule.upstream,
        };
        return json(&document);
    }
    let mut out = colour.paint(Tone::Heading, rule.id.as_str());
    out.end_line();
    out.end_line();
    for (label, text) in [("why", rule.sentence), ("etcd reads", &rule.reads.to_string()), ("upstream", rule.upstream)] {
        line(label, text, &mut out);
    }
    Ok(out)
}

fn request_text(explained: &Explained, colour: Colour) -> Printable {
    let mut out = colour.paint(Tone::Heading, &explained.request);
    if explained.verdict.is_some() {
        out.push("   API server ");
        out.push(explained.assumptions.join("; "));
    }
    out.end_line();
    out.end_line();
    if let Some(verdict) = &explained.verdict {
        label("served from", &mut out);
        out.append(&colour.paint(served_tone(Some(verdict)), &verdict.served_from));
        out.push_line(format_args!("   rule {}", verdict.rule));
        verdict_lines(explained, verdict, &mut out);
    }
    for write in &explained.etcd_writes {
        line("etcd writes", &write.to_string(), &mut out);
    }
    if !explained.versions.is_empty() {
        if explained.verdict.is_some() || !explained.etcd_writes.is_empty() {
            out.end_line();
        }
        versions(&explained.versions, colour, &mut out);
        out.append(&colour.paint(Tone::Quiet, assumed_of_versions(&explained.profile)));
        out.end_line();
    }
    out
}

fn verdict_lines(explained: &Explained, verdict: &VerdictRecord, out: &mut Printable) {
    if let Some(detail) = detail(verdict) {
        line("either", &detail, out);
    }
    for alternative in &verdict.alternatives {
        line("", &format!("{} if {}   rule {}", alternative.served_from, alternative.when, alternative.rule), out);
    }
    if let Some(otherwise) = &verdict.otherwise {
        line("else", &format!("{}, if {}", otherwise.then, otherwise.when), out);
    }
    line("why", explained.sentence.unwrap_or_default(), out);
    if verdict.etcd_reads.is_empty() && matches!(verdict.served_from, ServedFrom::Cache | ServedFrom::Snapshot) {
        line("etcd reads", "nothing", out);
    }
    for read in &verdict.etcd_reads {
        line("etcd reads", &read.to_string(), out);
    }
    for note in &verdict.notes {
        line("note", note, out);
    }
    if !explained.cheaper.is_empty() {
        line("cheaper", &explained.cheaper.join(" · "), out);
    }
}

fn versions(spans: &[VersionSpan], colour: Colour, out: &mut Printable) {
    let mut table =
        Table::new(&[("VERSION", Align::Left), ("SERVED FROM", Align::Left), ("RULE", Align::Left), ("ELSE", Align::Left)]);
    for span in spans {
        let record = VerdictRecord::from(&span.verdict);
        let otherwise =
            record.otherwise.as_ref().map_or_else(String::new, |otherwise| format!("{}, if {}", otherwise.then, otherwise.when));
        let cells = vec![
            Cell::new(span.versions.to_string()),
            Cell::toned(record.served_from.to_string(), served_tone(Some(&record))),
            Cell::new(record.rule),
            Cell::new(otherwise),
        ];
        table.row(cells, Vec::new());
    }
    table.render(colour, out);
}

/// The assumptions behind the table of versions.
fn assumed_of_versions(profile: &ServerProfile) -> String {
    let mut phrases = vec!["each version".to_owned()];
    phrases.extend(profile.assumptions_beside_version());
    if profile.etcd == EtcdSupport::AssumedSound {
        phrases.push("etcd answers progress requests".to_owned());
    }
    if profile.watch_cache {
        phrases.push("watch cache ready".to_owned());
    }
    phrases.join(" · ")
}

fn line(name: &str, text: &str, out: &mut Printable) {
    label(name, out);
    out.push_line(text);
}

fn label(name: &str, out: &mut Printable) {
    out.push(format_args!("{name:<13} "));
}
