//! A file of documents, as a user gives it.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::decision::{Decision, Referenced};
use super::document::Document;
use super::inject::{self, Earlier, Known};
use super::object::{Object, Unknown, objects};
use super::options::Options;
use super::outcome::{ObjectOutcome, Outcome};
use super::parse::NotYaml;
use super::phase::{Passed, Step, pass};
use super::record::Record;
use super::server_defaults;
use super::uninject::{self, Edits};

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
    /// Its objects with a template of a pod whose kind is unknown.
    unknown: Vec<(Named, Unknown)>,
    /// The number of its other objects.
    others: usize,
}

/// An object with a pod, and its names.
#[derive(Clone, Debug)]
struct Named {
    kind: String,
    namespace: Option<String>,
    name: String,
    line: usize,
    containers: Vec<String>,
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
    /// Parses a file, and adds what pods may refer to.
    pub(crate) fn read(text: &'t str, referenced: &mut Referenced) -> Result<Self, NotYaml> {
        let mut documents = Vec::new();
        let mut lines = 0;
        for part in documents_of(text).into_iter().flat_map(json_documents_of) {
            let read = Part::read(part, lines, referenced).map_err(|error| error.after(lines))?;
            documents.push(read);
            lines += part.matches('\n').count();
        }
        Ok(Self { documents })
    }

    /// Injects all objects, after uninjecting those that have a sidecar.
    pub(crate) fn inject(&self, options: &Options, referenced: &Referenced) -> Edited {
        let mut edited = self.edit(|part, document| part.inject(document, options, referenced));
        let unknown = self.documents.iter().flat_map(|part| &part.unknown);
        edited.objects.extend(unknown.map(|(named, unknown)| named.with(unknown.outcome(options))));
        edited.objects.sort_by_key(|object| object.line);
        edited
    }

    /// Uninjects all objects.
    pub(crate) fn uninject(&self, edits: Edits) -> Edited {
        let mut edited = self.edit(|part, document| part.uninject(document, edits));
        // Nothing was ever injected into them.
        edited.others += self.documents.iter().map(|part| part.unknown.len()).sum::<usize>();
        edited
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
    fn read(text: &'t str, lines: usize, referenced: &mut Referenced) -> Result<Self, NotYaml> {
        let mut part = Self { text, lines, document: None, objects: Vec::new(), unknown: Vec::new(), others: 0 };
        let Some(document) = Document::read(text)? else { return Ok(part) };
        referenced.learn(&document.value);
        let found = objects(&document.value);
        let line = |object: &Object| object.nodes(&document.root).map_or(1, |(node, _)| node.line);
        let named = |object: &Object| {
            let containers = object.containers(&document.value);
            Named::of(object.kind, object.value(&document.value), lines + line(object), containers)
        };
        part.objects = found.objects.iter().map(named).collect();
        part.others = found.others;
        let named = |unknown: Unknown| {
            let line = lines + unknown.line(&document.root);
            (Named::of(&unknown.kind, unknown.value(&document.value), line, unknown.containers.clone()), unknown)
        };
        part.unknown = found.unknown.into_iter().map(named).collect();
        part.document = Some(document).filter(|_| !found.objects.is_empty());
        Ok(part)
    }

    fn inject(&self, document: &Document<'t>, options: &Options, referenced: &Referenced) -> (Option<String>, Vec<Outcome>) {
        let objects_before = objects(&document.value).objects;
        let earlier: Vec<Earlier> = objects_before.iter().map(|object| Earlier::of(document, object)).collect();
        let none = Earlier::default();
        let is_same = |place: usize, pod: &Value| {
            let before = objects_before.get(place).and_then(|object| object.pod(&document.value));
            before.is_some_and(|before| server_defaults::same(&Record::without_notation(before), &Record::without_notation(pod)))
        };
        let plan = |document: &Document<'_>, object: &Object, place: usize| {
            let Earlier { had_token, flags } = earlier.get(place).unwrap_or(&none);
            let known = Known { referenced, had_token: *had_token };
            let planned = inject::plan(document, object, self.lines, &flags.complete(options)?, &known)?;
            Ok(planned.map(|(planned, decision)| {
                let is_same = is_same(place, &planned.pod);
                (planned, (decision, is_same))
            }))
        };
        let mut kept: Vec<Option<Outcome>> = vec![None; self.objects.len()];
        loop {
            let skips = |place: usize| kept.get(place).is_some_and(Option::is_some);
            let without = pass(document, self.lines, &skips, &|document, object, _| {
                uninject::plan(document, object, self.lines, options.edits)
            });
            let refused = |place: usize| skips(place) || matches!(without.steps.get(place), Some(Step::Refused(_)));
            // The text was parsed before: `pass` has compared its value.
            let reparsed = without.text.as_deref().and_then(|text| Document::read(text).ok().flatten());
            let with = pass(reparsed.as_ref().unwrap_or(document), self.lines, &refused, &plan);
            // An object that is refused now, or not selected, keeps the sidecar that it had. One that would get the same again stays as
            // it is, with the defaults of the API server.
            let mut again = false;
            for (place, step) in with.steps.iter().enumerate() {
                let outcome = match step {
                    Step::Refused(refusal) => refusal.clone().outcome(),
                    Step::Unchanged => Outcome::NotSelected,
                    Step::Changed((decision, true)) => {
                        Outcome::UpToDate { led: decision.led.clone(), warnings: decision.warnings.clone() }
                    }
                    Step::Changed((_, false)) => continue,
                };
                if let (Some(Step::Changed(())), Some(kept)) = (without.steps.get(place), kept.get_mut(place)) {
                    *kept = Some(outcome);
                    again = true;
                }
            }
            if !again {
                return self.injected(without, with, kept);
            }
        }
    }

    fn injected(
        &self,
        without: Passed<()>,
        with: Passed<(Decision, bool)>,
        kept: Vec<Option<Outcome>>,
    ) -> (Option<String>, Vec<Outcome>) {
        let text = with.text.or(without.text).filter(|text| *text != self.text);
        let steps = without.steps.into_iter().zip(with.steps).zip(kept);
        let outcomes = steps.map(|((before, after), kept)| match (kept, before, after) {
            (Some(outcome), _, _) => outcome,
            (None, Step::Refused(refusal), _) | (None, _, Step::Refused(refusal)) => refusal.outcome(),
            (None, Step::Changed(()), Step::Changed((Decision { led, warnings, .. }, _))) => Outcome::Updated { led, warnings },
            (None, Step::Unchanged, Step::Changed((Decision { led, warnings, .. }, _))) => Outcome::Injected { led, warnings },
            (None, _, Step::Unchanged) => Outcome::NotSelected,
        });
        let outcomes = outcomes.collect();
        (text, outcomes)
    }

    fn uninject(&self, document: &Document<'t>, edits: Edits) -> (Option<String>, Vec<Outcome>) {
        let passed =
            pass(document, self.lines, &|_| false, &|document, object, _| uninject::plan(document, object, self.lines, edits));
        let outcomes = passed.steps.into_iter().map(|step| match step {
            Step::Changed(()) => Outcome::Uninjected,
            Step::Unchanged => Outcome::NotInjected,
            Step::Refused(refusal) if refusal.may_pass => Outcome::NotInjected,
            Step::Refused(refusal) => Outcome::Refused(refusal),
        });
        (passed.text, outcomes.collect())
    }
}

impl Named {
    fn of(kind: &str, value: &Value, line: usize, containers: Vec<String>) -> Self {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let generated = || text("/metadata/generateName").map(|prefix| format!("{prefix}*"));
        Self {
            kind: kind.to_owned(),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name").or_else(generated).unwrap_or_else(|| "(unnamed)".to_owned()),
            line,
            containers,
        }
    }

    fn with(&self, outcome: Outcome) -> ObjectOutcome {
        ObjectOutcome {
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            line: self.line,
            containers: self.containers.clone(),
            outcome,
        }
    }
}
