//! One explained line, and all of them.

use observer_core::logs::{Envelope, FoundRecord, LogRecord};
use observer_core::routing::{Proof, RecordedRead, ServerProfile};
use observer_core::time::Timestamp;
use serde::Serialize;

use super::content::{Content, Fact};
use crate::printable::{Printable, json};
use crate::view::colour::{Colour, Tone};
use crate::view::explain::layout::{label, line};
use crate::view::explain::request::Explained;
use crate::view::json::EXPLAIN_SCHEMA;

/// A line and its explanation.
#[derive(Debug, Serialize)]
pub struct ExplainedLine {
    /// The number of its last line, from 1 on.
    line: u64,
    form: &'static str,
    written_by: &'static str,
    upstream: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    envelope: Option<&'static str>,
    at: Option<Timestamp>,
    /// Whether the line lacks the year or the zone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_is_incomplete: bool,
    /// The parts of the time that it lacks; empty if it lacks none.
    #[serde(skip)]
    assumed: &'static str,
    meaning: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    trap: Option<&'static str>,
    facts: Vec<Fact>,
    /// The layer of the request, as for a request without a log.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<Explained>,
    /// The proof of a layer in the line itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<ShownProof>,
    not_shown: &'static [&'static str],
    #[serde(skip)]
    is_of_etcd: bool,
}

/// The explanations of several lines.
#[derive(Debug, Default, Serialize)]
pub struct ExplainedLines {
    /// The lines that are explained, in their order.
    pub lines: Vec<ExplainedLine>,
    /// Number of lines without an explanation.
    pub not_recognised: u64,
    /// Whether the rest of the input was not read.
    pub is_cut: bool,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct ShownProof {
    id: &'static str,
    sentence: &'static str,
}

impl From<&'static Proof> for ShownProof {
    fn from(proof: &'static Proof) -> Self {
        Self { id: proof.id.as_str(), sentence: proof.sentence }
    }
}

impl ExplainedLine {
    /// Explains a record, of which `line` is the number of the last line. `None` for a line of klog of which nothing is known.
    pub fn of(found: &FoundRecord, line: u64, profile: &ServerProfile) -> Option<Self> {
        let content = Content::of(&found.record, profile.version.as_ref())?;
        let request = content.request.as_ref().and_then(|request| Explained::logged(request, profile));
        let recorded = content.shows.or_else(|| content.request.as_ref().and_then(|request| request.recorded));
        let form = match &found.record {
            LogRecord::Line(line) => line.form(),
            LogRecord::Trace(_) => "Trace",
        };
        Some(Self {
            line,
            form,
            written_by: found.origin.written_by,
            upstream: found.origin.upstream,
            envelope: found.envelope.map(Envelope::name),
            at: content.at,
            at_is_incomplete: content.at.is_some() && !found.origin.assumed.is_empty(),
            assumed: found.origin.assumed,
            meaning: content.meaning,
            trap: content.trap,
            facts: content.facts,
            proof: request
                .as_ref()
                .and_then(Explained::proof)
                .or_else(|| recorded.and_then(RecordedRead::proof))
                .map(ShownProof::from),
            request,
            not_shown: content.not_shown,
            is_of_etcd: recorded == Some(RecordedRead::EtcdRead),
        })
    }

    /// The explanation as text.
    pub fn text(&self, colour: Colour) -> Printable {
        let mut out = colour.paint(Tone::Heading, format_args!("line {}", self.line));
        out.push_line(format_args!("   {}   {}", self.form, self.written_by));
        out.end_line();
        line("meaning", &self.meaning, &mut out);
        if let Some(trap) = self.trap {
            label("trap", &mut out);
            out.append(&colour.paint(Tone::Bad, trap));
            out.end_line();
        }
        if let Some(at) = self.at {
            let assumed = if self.assumed.is_empty() { String::new() } else { format!("   {} assumed", self.assumed) };
            line("time", &format!("{at}{assumed}"), &mut out);
        }
        for Fact { name, value } in &self.facts {
            line(name, value, &mut out);
        }
        line("envelope", self.envelope.unwrap_or("none"), &mut out);
        line("upstream", self.upstream, &mut out);
        for (number, not_shown) in self.not_shown.iter().enumerate() {
            line(if number == 0 { "not shown" } else { "" }, not_shown, &mut out);
        }
        if let Some(request) = &self.request {
            out.end_line();
            out.append(&request.logged_text(colour));
        }
        line("proves", &self.proves(), &mut out);
        out
    }

    /// The proof of the layer in words, or that there is none.
    fn proves(&self) -> String {
        if let Some(proof) = self.proof {
            let condition = if self.request.is_none() && self.is_of_etcd { " (for a list of these keys at this time)" } else { "" };
            return format!("{}: {}{condition}", proof.id, proof.sentence);
        }
        let request = self.request.as_ref();
        match request.map(Explained::has_verdict) {
            Some(true) => "nothing about the layer, which is predicted from the request and the version".to_owned(),
            Some(false) => "nothing about the layer; with --server-version, it is predicted".to_owned(),
            None => "nothing about the layer of a request".to_owned(),
        }
    }
}

impl ExplainedLines {
    /// All explanations as one JSON object.
    pub fn json(&self) -> serde_json::Result<Printable> {
        #[derive(Serialize)]
        struct Document<'l> {
            schema: &'static str,
            #[serde(flatten)]
            lines: &'l ExplainedLines,
        }
        json(&Document { schema: EXPLAIN_SCHEMA, lines: self })
    }
}

/// The forms that are known, for a line that has none of them.
pub fn known_forms() -> &'static str {
    "audit events (JSON, EventList, legacy text, GKE), requests in the log of kube-apiserver (-v=3), `Starting watch`, watch caches, Trace, \
     reflectors and requests (-v=6) of client-go, and lines of etcd; docs/logs.md lists their envelopes"
}
