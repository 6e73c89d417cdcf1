//! The explanation of a name in a report: a cause of relists, a kind of finding, or a finding.

use observer_core::observer::{FindingKind, advice_by_cause};
use observer_core::reflector::{NamedCause, causes_named};
use serde::Serialize;

use super::layout::{ExplainFormat, heading, line, paragraph};
use super::section::{Block, of_cause, of_finding};
use crate::printable::{Printable, json};
use crate::view::colour::Colour;
use crate::view::json::EXPLAIN_SCHEMA;

/// The meanings of a name. Some names stand for both a cause and a kind of finding.
#[derive(Clone, Debug, Serialize)]
pub struct Meaning {
    schema: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<Cause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<KindMeaning>,
}

#[derive(Clone, Debug, Serialize)]
struct Cause {
    id: String,
    label: String,
    sentence: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    seen: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    versions: String,
    advice: Option<&'static str>,
    section: &'static str,
}

#[derive(Clone, Debug, Serialize)]
struct KindMeaning {
    kind: FindingKind,
    advice: &'static str,
    #[serde(serialize_with = "texts")]
    text: Vec<Block>,
    section: String,
}

impl Meaning {
    /// The meanings of `name`. It may be the name of a cause, of a kind of finding, or of a finding
    /// (`kind:program:resource/scope`); otherwise `None`.
    pub fn of(name: &str) -> Option<Self> {
        let (kind, is_identifier) = name.split_once(':').map_or((name, false), |(kind, _)| (kind, true));
        let finding = FindingKind::named(kind).map(KindMeaning::from);
        let causes: Vec<Cause> = if is_identifier { Vec::new() } else { causes_named(name).into_iter().map(Cause::from).collect() };
        let is_known = finding.is_some() || !causes.is_empty();
        is_known.then(|| Self { schema: EXPLAIN_SCHEMA, name: name.to_owned(), causes, finding })
    }
}

impl From<NamedCause> for Cause {
    fn from(named: NamedCause) -> Self {
        let id = named.id();
        let (seen, versions) = of_cause(&id).map(|row| (row.seen, row.versions)).unwrap_or_default();
        let (label, sentence) = (named.label(), named.sentence());
        Self { id, label, sentence, seen, versions, advice: advice_by_cause(named.cause), section: "§6.5" }
    }
}

impl From<FindingKind> for KindMeaning {
    fn from(kind: FindingKind) -> Self {
        Self { kind, advice: kind.advice(), text: of_finding(kind), section: format!("docs/findings.md#{kind}") }
    }
}

fn texts<S: serde::Serializer>(blocks: &[Block], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(blocks.iter().map(|block| &block.text))
}

/// The explanation of a name in a report.
pub fn explain_meaning(meaning: &Meaning, format: ExplainFormat, colour: Colour) -> serde_json::Result<Printable> {
    if format == ExplainFormat::Json {
        return json(meaning);
    }
    let causes = meaning.causes.iter().map(|cause| cause.text(colour));
    let parts: Vec<Printable> = causes.chain(meaning.finding.as_ref().map(|kind| kind.text(&meaning.name, colour))).collect();
    let mut out = Printable::new();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            out.end_line();
        }
        out.append(part);
    }
    Ok(out)
}

impl Cause {
    fn text(&self, colour: Colour) -> Printable {
        let mut out = heading(&self.id, "cause of relists", colour);
        line("meaning", &self.sentence, &mut out);
        line("shown as", &self.label, &mut out);
        if !self.seen.is_empty() {
            line("evidence", &self.seen, &mut out);
        }
        if !self.versions.is_empty() {
            line("versions", &self.versions, &mut out);
        }
        line("change", self.advice.unwrap_or("the cause alone shows none"), &mut out);
        let hint =
            if has_marks(&self.seen) || has_marks(&self.versions) { " (LAST is in §6.1, and T1 to T20 in §6.4)" } else { "" };
        line("docs", &format!("docs/semantics.md §6.5{hint}"), &mut out);
        out
    }
}

/// Whether `text` has a mark that another section defines: `LAST`, or `T` and a number.
fn has_marks(text: &str) -> bool {
    let words = text.split(|character: char| !character.is_alphanumeric());
    let is_event = |word: &str| word.strip_prefix('T').is_some_and(|number| number.parse::<u8>().is_ok());
    words.into_iter().any(|word| word == "LAST" || is_event(word))
}

impl KindMeaning {
    fn text(&self, name: &str, colour: Colour) -> Printable {
        let mut out = heading(name, "finding", colour);
        line("change", self.advice, &mut out);
        let suppressed = if name.contains(':') { name.to_owned() } else { format!("{name}:") };
        line("mute", &format!("--mute '{suppressed}'"), &mut out);
        line("docs", &self.section, &mut out);
        let mut is_after_item = false;
        for Block { is_item, text } in &self.text {
            if !(*is_item && is_after_item) {
                out.end_line();
            }
            paragraph(if *is_item { "- " } else { "" }, text, &mut out);
            is_after_item = *is_item;
        }
        out
    }
}
