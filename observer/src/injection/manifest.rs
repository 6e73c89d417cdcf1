//! A file of documents, as a user gives it.

use serde::de::IgnoredAny;

use super::decision::ServiceAccounts;
use super::document::Document;
use super::object::{Object, objects};
use super::options::Options;
use super::outcome::{ObjectOutcome, Outcome};
use super::parse::NotYaml;
use super::phase::{Passed, Step, pass};
use super::{inject, uninject};

/// The documents of one file.
#[derive(Debug)]
pub(crate) struct Manifest<'t> {
    documents: Vec<Part<'t>>,
}

/// One document, from its `---` line on.
#[derive(Debug)]
struct Part<'t> {
    text: &'t str,
    /// The number of lines of the file before it.
    lines: usize,
    /// Its content, if it has an object with a pod.
    document: Option<Document<'t>>,
    /// Its objects with a pod.
    objects: Vec<Named>,
    /// The number of its other objects.
    others: usize,
}

/// An object with a pod, and its names.
#[derive(Clone, Debug)]
struct Named {
    kind: &'static str,
    namespace: Option<String>,
    name: String,
    line: usize,
}

/// A file after injection or uninjection.
#[derive(Clone, Debug)]
pub(crate) struct Edited {
    pub(crate) text: String,
    pub(crate) objects: Vec<ObjectOutcome>,
    /// The number of objects without a pod.
    pub(crate) others: usize,
}

impl<'t> Manifest<'t> {
    /// Parses a file, and adds its service accounts to those of the input.
    pub(crate) fn read(text: &'t str, accounts: &mut Accounts) -> Result<Self, NotYaml> {
        let mut documents = Vec::new();
        let mut lines = 0;
        for part in documents_of(text).into_iter().flat_map(json_documents_of) {
            let read = Part::read(part, lines, &mut accounts.0).map_err(|error| error.after(lines))?;
            documents.push(read);
            lines += part.matches('\n').count();
        }
        Ok(Self { documents })
    }

    /// Injects all objects, after uninjecting those that have a sidecar.
    pub(crate) fn inject(&self, options: &Options, accounts: &mut Accounts) -> Edited {
        self.edit(|part, document| part.inject(document, options, &mut accounts.0))
    }

    /// Uninjects all objects.
    pub(crate) fn uninject(&self) -> Edited {
        self.edit(Part::uninject)
    }

    fn edit(&self, mut edit: impl FnMut(&Part<'t>, &Document<'t>) -> (Option<String>, Vec<Outcome>)) -> Edited {
        let mut edited = Edited { text: String::new(), objects: Vec::new(), others: 0 };
        for part in &self.documents {
            let (text, outcomes) = part.document.as_ref().map(|document| edit(part, document)).unwrap_or_default();
            edited.text.push_str(text.as_deref().unwrap_or(part.text));
            edited.others += part.others;
            edited.objects.extend(part.objects.iter().zip(outcomes).map(|(named, outcome)| named.with(outcome)));
        }
        edited
    }
}

/// The service accounts of all files of the input, and those about which there was a warning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accounts(ServiceAccounts);

/// Splits a file before each line that begins a document. A directive (`%YAML`) belongs to the document after it.
fn documents_of(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut begin = 0;
    let mut directives = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_start = line.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
        if is_start && at > 0 {
            let cut = directives.unwrap_or(at);
            parts.push(&text[begin..cut]);
            begin = cut;
        }
        directives = line.starts_with('%').then(|| directives.unwrap_or(at));
        at += line.len();
    }
    parts.push(&text[begin..]);
    parts
}

/// Splits a document after each value of JSON that another one follows: kubectl reads such streams without a `---` between.
fn json_documents_of(document: &str) -> Vec<&str> {
    let is_json = |text: &str| text.trim_start().starts_with('{');
    let mut parts = Vec::new();
    let mut rest = document;
    while is_json(rest) {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        let Some(Ok(_)) = values.next() else { break };
        let (value, after) = rest.split_at(values.byte_offset());
        if !is_json(after) {
            break;
        }
        // The line break belongs to the value that it ends.
        let blanks = &after[..after.len() - after.trim_start().len()];
        let end = value.len() + blanks.find('\n').map_or(0, |end| end + 1);
        let (part, following) = rest.split_at(end);
        parts.push(part);
        rest = following;
    }
    parts.push(rest);
    parts
}

impl<'t> Part<'t> {
    fn read(text: &'t str, lines: usize, accounts: &mut ServiceAccounts) -> Result<Self, NotYaml> {
        let mut part = Self { text, lines, document: None, objects: Vec::new(), others: 0 };
        let Some(document) = Document::read(text)? else { return Ok(part) };
        accounts.learn(&document.value);
        let (objects, others) = objects(&document.value);
        part.objects = objects.iter().map(|object| Named::of(object, &document, lines)).collect();
        part.others = others;
        part.document = Some(document).filter(|_| !objects.is_empty());
        Ok(part)
    }

    fn inject(&self, document: &Document<'t>, options: &Options, accounts: &mut ServiceAccounts) -> (Option<String>, Vec<Outcome>) {
        let known = &*accounts;
        let plan = |document: &Document<'_>, object: &Object| inject::plan(document, object, self.lines, options, known);
        let mut kept: Vec<Option<Outcome>> = vec![None; self.objects.len()];
        loop {
            let skips = |place: usize| kept.get(place).is_some_and(Option::is_some);
            let without = pass(document, self.lines, &skips, &|document, object| uninject::plan(document, object, self.lines));
            let refused = |place: usize| skips(place) || matches!(without.steps.get(place), Some(Step::Refused(_)));
            // The text was parsed before: `pass` has compared its value.
            let reparsed = without.text.as_deref().and_then(|text| Document::read(text).ok().flatten());
            let with = pass(reparsed.as_ref().unwrap_or(document), self.lines, &refused, &plan);
            // An object that is refused now, or not selected, keeps the sidecar that it had.
            let mut again = false;
            for (place, step) in with.steps.iter().enumerate() {
                let outcome = match step {
                    Step::Refused(refusal) => Outcome::Refused(refusal.clone()),
                    Step::Unchanged => Outcome::NotSelected,
                    Step::Changed(_) => continue,
                };
                if let (Some(Step::Changed(())), Some(kept)) = (without.steps.get(place), kept.get_mut(place)) {
                    *kept = Some(outcome);
                    again = true;
                }
            }
            if !again {
                return self.injected(without, with, kept, accounts);
            }
        }
    }

    fn injected(
        &self,
        without: Passed<()>,
        with: Passed<super::decision::Decision>,
        kept: Vec<Option<Outcome>>,
        accounts: &mut ServiceAccounts,
    ) -> (Option<String>, Vec<Outcome>) {
        let text = with.text.or(without.text).filter(|text| *text != self.text);
        let steps = without.steps.into_iter().zip(with.steps).zip(kept);
        let outcomes = steps.map(|((before, after), kept)| match (kept, before, after) {
            (Some(outcome), _, _) => outcome,
            (None, Step::Refused(refusal), _) | (None, _, Step::Refused(refusal)) => Outcome::Refused(refusal),
            (None, before, Step::Changed(decision)) => {
                let (led, mut warnings) = (decision.led, decision.warnings);
                warnings.extend(decision.unknown_account.and_then(|account| accounts.warn_of(account)));
                let is_same = matches!(before, Step::Changed(())) && text.is_none();
                if is_same { Outcome::UpToDate { led, warnings } } else { Outcome::Injected { led, warnings } }
            }
            (None, _, Step::Unchanged) => Outcome::NotSelected,
        });
        let outcomes = outcomes.collect();
        (text, outcomes)
    }

    fn uninject(&self, document: &Document<'t>) -> (Option<String>, Vec<Outcome>) {
        let passed = pass(document, self.lines, &|_| false, &|document, object| uninject::plan(document, object, self.lines));
        let outcomes = passed.steps.into_iter().map(|step| match step {
            Step::Changed(()) => Outcome::Uninjected,
            Step::Unchanged => Outcome::NotInjected,
            Step::Refused(refusal) => Outcome::Refused(refusal),
        });
        (passed.text, outcomes.collect())
    }
}

impl Named {
    fn of(object: &Object, document: &Document<'_>, lines: usize) -> Self {
        let value = object.value(&document.value);
        let text = |pointer: &str| value.pointer(pointer).and_then(serde_json::Value::as_str).map(str::to_owned);
        let generated = || text("/metadata/generateName").map(|prefix| format!("{prefix}*"));
        Self {
            kind: object.kind,
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name").or_else(generated).unwrap_or_else(|| "(unnamed)".to_owned()),
            line: lines + object.nodes(&document.root).map_or(1, |(node, _)| node.line),
        }
    }

    fn with(&self, outcome: Outcome) -> ObjectOutcome {
        ObjectOutcome { kind: self.kind, namespace: self.namespace.clone(), name: self.name.clone(), line: self.line, outcome }
    }
}
