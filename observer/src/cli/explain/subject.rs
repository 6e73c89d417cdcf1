//! Reads the input of `watchtap explain`: a request in one of its forms, or a name from a report.

use anyhow::{Error, Result};
use observer_core::k8s::stable_resource;
use observer_core::routing::{Proof, Rule, proof, rule};

use super::names::names;
use super::request::{Asked, Flags, is_url, with_slash};
use super::resource::path;
use super::shell_words::shell_words;
use super::verbs::{Action, GET};
use super::wrong_input::{quoted, wrong_input};
use crate::cli::nearest::nearest;
use crate::view::Meaning;

/// The thing that the input names.
pub(super) enum Subject {
    Request(Asked),
    Rule(&'static Rule),
    Proof(&'static Proof),
    Meaning(Meaning),
}

/// A line of words, such as a pasted request or command.
struct Line {
    words: Vec<String>,
    /// All after the first word, with its quotes and spaces.
    rest: String,
    flags: Flags,
    /// The first flag that is not one of [`Flags`], without its value.
    unknown_flag: Option<String>,
}

/// The subject of the words on the command line, and of the flags of kubectl beside them.
pub(super) fn subject(words: &[String], flags: Flags) -> Result<Subject> {
    let words: Vec<&str> = words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()).collect();
    let words = without_prompt(words);
    match words.as_slice() {
        [only] if is_url(only) => {
            flags.refuse_namespace()?;
            Ok(Subject::Request(Asked::of(GET, only)?))
        }
        [only] if only.contains(char::is_whitespace) => Line::of_text(only, flags).request(),
        [only] if flags == Flags::default() => by_name(only),
        _several => Line::of_words(&words, flags).request(),
    }
}

/// Without the `$` of a pasted prompt.
fn without_prompt(words: Vec<&str>) -> Vec<&str> {
    let mut words = words;
    if let Some(first) = words.first_mut() {
        *first = first.strip_prefix('$').unwrap_or(first).trim_start();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn by_name(name: &str) -> Result<Subject> {
    let lower = name.to_ascii_lowercase();
    if let Some(rule) = rule(&lower) {
        return Ok(Subject::Rule(rule));
    }
    if let Some(proof) = proof(&lower) {
        return Ok(Subject::Proof(proof));
    }
    // Of the ID of a finding, only the kind has no upper case.
    let (kind, of) =
        name.split_once(':').map_or((lower, String::new()), |(kind, of)| (kind.to_ascii_lowercase(), format!(":{of}")));
    Meaning::of(&format!("{kind}{of}")).map(Subject::Meaning).ok_or_else(|| no_name(name, &kind))
}

fn no_name(name: &str, kind: &str) -> Error {
    if Action::named(name).is_some() {
        return wrong_input(&format!("`{name}` needs a resource or a path, as in `{name} pods` or `{name} /api/v1/pods`"), &[]);
    }
    if let Some(error) = without_verb(name) {
        return error;
    }
    let what = format!("{} is neither a request nor the name of a rule, a proof, a cause of relists or a finding", quoted(name));
    let path = with_slash(name);
    wrong_input(&what, &path.map_or_else(|| nearest(kind, names()), |path| vec![path]))
}

/// The error if `word` is a resource.
fn without_verb(word: &str) -> Option<Error> {
    let resource = stable_resource(&word.to_ascii_lowercase())?;
    Some(wrong_input(&format!("{} is a resource without a verb", quoted(word)), &[format!("LIST {resource}")]))
}

impl Line {
    fn of_words(words: &[&str], flags: Flags) -> Self {
        let rest = words.get(1..).unwrap_or_default().join(" ");
        Self { words: words.iter().map(|word| (*word).to_owned()).collect(), rest, flags, unknown_flag: None }
    }

    fn of_text(text: &str, flags: Flags) -> Self {
        let rest = text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest).trim().to_owned();
        let mut line = Self { words: Vec::new(), rest, flags, unknown_flag: None };
        let mut words = shell_words(text).into_iter();
        while let Some(word) = words.next() {
            let (flag, value) = word.split_once('=').map_or((word.as_str(), None), |(flag, value)| (flag, Some(value.to_owned())));
            match flag {
                "--raw" => line.flags.raw = value.or_else(|| words.next()),
                "-n" | "--namespace" => line.flags.namespace = value.or_else(|| words.next()),
                "-A" | "--all-namespaces" => line.flags.all_namespaces = true,
                flag if flag.starts_with('-') => {
                    line.unknown_flag.get_or_insert_with(|| flag.to_owned());
                }
                _word => line.words.push(word),
            }
        }
        line
    }

    fn request(self) -> Result<Subject> {
        let Some(first) = self.words.first() else {
            return Err(wrong_input("the input has no word", &[]));
        };
        if first == "kubectl" || self.flags.raw.is_some() {
            return self.of_kubectl();
        }
        if is_url(first) {
            return Err(wrong_input(&format!("a second word follows the path {}", quoted(first)), &[]));
        }
        let Some(action) = Action::named(first) else {
            if let Some(error) = without_verb(first) {
                return Err(error);
            }
            let what = format!("{} is not a method or verb of the Kubernetes API", quoted(first));
            let name = as_name(&self.words);
            return Err(wrong_input(&what, &name.map_or_else(|| nearest(first, Action::words()), |name| vec![name])));
        };
        let url = unquoted(&self.rest);
        if is_url(url) {
            self.flags.refuse_namespace()?;
            return Ok(Subject::Request(Asked::of(action, url)?));
        }
        if let Some(flag) = &self.unknown_flag {
            return Err(wrong_input(&format!("{} is not accepted; -n and -A are", quoted(flag)), &[]));
        }
        let words = self.words.get(1..).unwrap_or_default();
        Ok(Subject::Request(Asked::of(action, &path(action, words, &self.flags)?)?))
    }

    fn of_kubectl(&self) -> Result<Subject> {
        let words = self.words.get(1..).unwrap_or_default();
        let Some(path) = &self.flags.raw else {
            let what = "this `kubectl` command has no `--raw PATH`, so its requests are unknown here; \
                `watchtap exec -- kubectl …` reports them";
            let lists = words.iter().filter_map(|word| stable_resource(word)).map(|resource| format!("LIST {resource}"));
            return Err(wrong_input(what, &lists.take(1).collect::<Vec<_>>()));
        };
        let Some(action) = self.words.iter().find_map(|word| Action::of_kubectl(word)) else {
            let verb = words.first().map_or("", String::as_str);
            return Err(wrong_input(
                &format!("`kubectl` has no `--raw` for {}", quoted(verb)),
                &["kubectl get --raw PATH".to_owned()],
            ));
        };
        Ok(Subject::Request(Asked::of(action, path)?))
    }
}

/// The words joined by `-`, if that is the name of a rule, a cause or another explained thing.
fn as_name(words: &[String]) -> Option<String> {
    let joined = words.join("-").to_ascii_lowercase();
    names().find(|name| *name == joined)
}

/// Without a pair of quotes around all of it.
fn unquoted(text: &str) -> &str {
    let within = |quote| text.strip_prefix(quote).and_then(|text: &str| text.strip_suffix(quote));
    within('\'').or_else(|| within('"')).unwrap_or(text)
}
