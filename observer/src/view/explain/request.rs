//! The explanation of a request.

use observer_core::http::Target;
use observer_core::k8s::{ListOptions, RequestInfo};
use observer_core::logs::LoggedRequest;
use observer_core::observer::VerdictRecord;
use observer_core::routing::{
    Basis, CacheState, Certainty, EtcdSupport, EtcdWrite, Evidence, IgnoredParameter, Proof, Question, RuleId, ServedFrom,
    ServerProfile, Verdict, VersionSpan, across_versions, cheaper, etcd_writes, ignored_parameters, proof, route, rule, weigh,
};
use observer_core::time::Timestamp;
use serde::Serialize;

use super::layout::{ExplainFormat, label, line};
use crate::printable::{Printable, json};
use crate::view::colour::{Colour, Tone};
use crate::view::json::EXPLAIN_SCHEMA;
use crate::view::table::{Align, Cell, Table};
use crate::view::verdict::{detail, served_tone};

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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<IgnoredParameter>,
    versions: Vec<Span>,
}

/// Consecutive versions that answer in the same way, with the reason.
#[derive(Clone, Debug, Serialize)]
struct Span {
    #[serde(flatten)]
    span: VersionSpan,
    sentence: &'static str,
}

impl Explained {
    /// Applies the rules; `None` if the request neither reads nor writes objects. `query` is the query of the request without `?`,
    /// with all parameters that the user gave. The values of unknown parameters are not kept.
    pub fn of(request: &str, info: &RequestInfo, query: &str, profile: &ServerProfile) -> Option<Self> {
        Self::weighed(request, (info, query), profile, &|_, _| {})
    }

    /// Applies the rules to a request in a log, and the proofs to what the log has of its answer.
    pub fn logged(request: &LoggedRequest, profile: &ServerProfile) -> Option<Self> {
        let uri = request.uri.split('#').next().unwrap_or_default();
        let query = uri.split_once('?').map_or("", |(_, query)| query);
        let Target { path, query: shown, .. } = Target::parse(uri.as_bytes());
        let info = RequestInfo::parse(request.method, &path, &ListOptions::parse(query), "");
        let question_mark = if shown.is_empty() { "" } else { "?" };
        Self::weighed(&format!("{} {path}{question_mark}{shown}", request.method), (&info, query), profile, &|verdict, options| {
            let Some(status) = request.status else { return };
            let evidence = Evidence {
                info: &info,
                options,
                shown_before: None,
                status,
                plain_text: false,
                refusal: request.refusal.as_deref(),
                list: None,
                items: 0,
                error: None,
                initial_events_ended: false,
                recorded: request.recorded,
            };
            weigh(verdict, &evidence);
        })
    }

    fn weighed(
        request: &str,
        (info, query): (&RequestInfo, &str),
        profile: &ServerProfile,
        weigh: &dyn Fn(&mut Verdict, &ListOptions),
    ) -> Option<Self> {
        let options = &ListOptions::parse(query);
        let question = Question { info, options, profile, cache: CacheState::Ready, history: None, now: Timestamp::default() };
        let mut verdict = route(&question);
        if let Some(verdict) = &mut verdict {
            weigh(verdict, options);
        }
        let etcd_writes = etcd_writes(info, query, profile);
        if verdict.is_none() && etcd_writes.is_empty() {
            return None;
        }
        // Without a version, only an answer shows the layer.
        let verdict = verdict.filter(|verdict| profile.version.is_some() || verdict.certainty != Certainty::Predicted);
        Some(Self {
            schema: EXPLAIN_SCHEMA,
            request: request.to_owned(),
            profile: profile.clone(),
            assumptions: profile.assumptions(),
            sentence: verdict.as_ref().and_then(|verdict| sentence(verdict.rule)),
            cheaper: if verdict.is_some() { cheaper(&question) } else { Vec::new() },
            verdict: verdict.as_ref().map(VerdictRecord::from),
            etcd_writes,
            ignored: ignored_parameters(info, query, profile.version.as_ref()),
            versions: across_versions(info, options, profile).into_iter().map(Span::from).collect(),
        })
    }
}

impl From<VersionSpan> for Span {
    fn from(span: VersionSpan) -> Self {
        Self { sentence: sentence(span.verdict.rule).unwrap_or_default(), span }
    }
}

fn sentence(id: RuleId) -> Option<&'static str> {
    rule(id.as_str()).map(|rule| rule.sentence)
}

impl Explained {
    /// The explanation of a request in a log. The table of versions is left out if there is a verdict.
    pub(super) fn logged_text(&self, colour: Colour) -> Printable {
        let without_table = Self { versions: Vec::new(), ..self.clone() };
        let shown = if self.verdict.is_some() { &without_table } else { self };
        request_text(shown, colour)
    }

    pub(super) const fn has_verdict(&self) -> bool {
        self.verdict.is_some()
    }

    /// The proof that confirmed or contradicted the verdict.
    pub(super) fn proof(&self) -> Option<&'static Proof> {
        self.verdict.as_ref()?.proof.and_then(|id| proof(id.as_str()))
    }
}

/// The explanation of a request.
pub fn explain_request(explained: &Explained, format: ExplainFormat, colour: Colour) -> serde_json::Result<Printable> {
    match format {
        ExplainFormat::Json => json(explained),
        ExplainFormat::Text => Ok(request_text(explained, colour)),
    }
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
    for IgnoredParameter { name, reason } in &explained.ignored {
        line("ignored", &format!("{name} ({reason})"), &mut out);
    }
    if !explained.versions.is_empty() {
        if explained.verdict.is_some() || !explained.etcd_writes.is_empty() || !explained.ignored.is_empty() {
            out.end_line();
        }
        versions(explained, colour, &mut out);
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
        line("exception", &format!("{}, if {}", otherwise.then, otherwise.when), out);
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

/// The table of versions. Without a verdict above it, each row has its reason below it.
fn versions(explained: &Explained, colour: Colour, out: &mut Printable) {
    let mut table =
        Table::new(&[("VERSION", Align::Left), ("SERVED FROM", Align::Left), ("RULE", Align::Left), ("EXCEPTION", Align::Left)]);
    for (index, Span { span, sentence }) in explained.versions.iter().enumerate() {
        let record = VerdictRecord::from(&span.verdict);
        let otherwise =
            record.otherwise.as_ref().map_or_else(String::new, |otherwise| format!("{}, if {}", otherwise.then, otherwise.when));
        let same = explained.versions.iter().take(index).find(|earlier| earlier.span.verdict.rule == span.verdict.rule);
        let reason = same.map_or_else(|| shortened(sentence).to_owned(), |earlier| format!("same as {}", earlier.span.versions));
        let notes = if explained.verdict.is_none() { vec![reason] } else { Vec::new() };
        let cells = vec![
            Cell::new(span.versions.to_string()),
            Cell::toned(record.served_from.to_string(), served_tone(Some(&record))),
            Cell::new(record.rule),
            Cell::new(otherwise),
        ];
        table.row(cells, notes);
    }
    table.render(colour, out);
}

/// The first sentence of a rule's reason. `watchtap explain RULE` has the others.
fn shortened(reason: &str) -> &str {
    reason.split(". ").next().unwrap_or_default()
}

/// The assumptions behind the table of versions.
fn assumed_of_versions(profile: &ServerProfile) -> String {
    let mut phrases = profile.assumptions_beside_version();
    if profile.provenance.gates == Basis::MinorDefault {
        let defaults = if profile.gates.is_empty() { "default feature gates" } else { "other feature gates at their defaults" };
        // The first phrase states the source of the gates; those that differ from their defaults follow.
        if let Some(first) = phrases.first_mut() {
            defaults.clone_into(first);
        }
    }
    if profile.etcd == EtcdSupport::AssumedSound {
        phrases.push("etcd answers progress requests".to_owned());
    }
    if profile.watch_cache {
        phrases.push("watch cache ready".to_owned());
    }
    format!("assumed for every version: {}", phrases.join(" · "))
}
