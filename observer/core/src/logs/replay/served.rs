//! The open watches, by what a watch cache calls them. Its line about a watch that it closes by force names no client.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use foldhash::fast::RandomState;

use crate::k8s::Verb;
use crate::logs::audit::AuditEvent;
use crate::logs::cache_lines::{CacheEvent, CacheLine, CacheWatch, CachedResource};
use crate::observation::RequestLine;
use crate::routing::{cached_key, cached_key_of};
use crate::time::Timestamp;

use super::record::head;

/// Of several watches, the one that was closed by force is the only one that ends within this time.
pub(super) const ENDS_WITHIN: Duration = Duration::from_secs(1);
/// Tolerance when the life of a watch is compared with its `timeoutSeconds`.
const TIMEOUT_SLACK: Duration = Duration::from_secs(1);
/// Maximum number of different watches that are compared with a line that names only a type.
const MOST_COMPARED: usize = 1_024;

/// A watch, as a watch cache names it: the same for all clients that watch the same objects.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Served {
    /// Key of the objects, without the prefix of etcd and without a slash at its end.
    key: String,
    labels: String,
    fields: String,
}

/// The line about a watch that was closed by force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ForcedClose {
    named: NamedBy,
    /// Number of events that waited for the client.
    pub waiting: Option<u64>,
}

/// The part of the watch that a line names.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NamedBy {
    /// The objects and the selectors, from 1.22 on.
    Watch(Served),
    /// The key of all objects of the resource, before 1.22.
    Resource(String),
}

/// The line about a watch cache that was reset, which ends all of its watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResetCache {
    /// Plural name, with a group from 1.26 on.
    resource: String,
    has_group: bool,
}

/// The open watches by their names, each by its ordinal.
#[derive(Debug, Default)]
pub(super) struct ServedWatches(HashMap<Served, BTreeSet<u64>, RandomState>);

/// The open watches that a line may be about.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Candidates<'s> {
    /// These, by their ordinals.
    These(Cow<'s, BTreeSet<u64>>),
    /// There are too many different watches to compare.
    TooMany,
}

impl ForcedClose {
    /// The close that a line is about, and its time. `None` for any other line, and for one whose resource is unknown.
    pub(super) fn of(line: &CacheLine) -> Option<(Timestamp, Self)> {
        let CacheEvent::WatchUnresponsive { watch, waiting, .. } = &line.event else { return None };
        let named = match (watch, &line.resource) {
            (Some(watch), _) => NamedBy::Watch(Served::named(watch)),
            (None, Some(CachedResource::GoType(name))) => NamedBy::Resource(cached_key_of(&plural_of(name)?)),
            (None, Some(CachedResource::Named(_)) | None) => return None,
        };
        Some((line.at?, Self { named, waiting: *waiting }))
    }

    /// Estimated memory in bytes.
    pub(super) fn memory(&self) -> usize {
        let texts = match &self.named {
            NamedBy::Watch(Served { key, labels, fields }) => key.len() + labels.len() + fields.len(),
            NamedBy::Resource(key) => key.len(),
        };
        size_of::<Self>() + texts
    }
}

impl ResetCache {
    /// The reset that a line is about, and its time. `None` for any other line, and for one whose resource is unknown.
    pub(super) fn of(line: &CacheLine) -> Option<(Timestamp, Self)> {
        if line.event != CacheEvent::Restarted {
            return None;
        }
        let reset = match line.resource.as_ref()? {
            CachedResource::Named(resource) => Self { resource: resource.clone(), has_group: true },
            CachedResource::GoType(name) => Self { resource: plural_of(name)?, has_group: false },
        };
        Some((line.at?, reset))
    }

    /// Whether it is about this resource, as in `deployments.apps`.
    pub(super) fn is_of(&self, resource: &str) -> bool {
        let resource = if self.has_group { resource } else { resource.split('.').next().unwrap_or_default() };
        self.resource == resource
    }

    /// Estimated memory in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>() + self.resource.len()
    }
}

impl Served {
    fn named(watch: &CacheWatch) -> Self {
        let CacheWatch { key, labels, fields } = watch;
        Self { key: key.trim_end_matches('/').to_owned(), labels: sorted(labels), fields: sorted(fields) }
    }

    /// The name of a requested watch. `None` for other requests.
    pub(super) fn of(request: &RequestLine) -> Option<Self> {
        let info = request.info.as_ref().filter(|info| info.verb == Verb::Watch)?;
        let options = &request.options;
        let mut fields = options.field_selector.clone();
        if !info.name.is_empty() && options.exact_field("metadata.name").is_none() {
            // The path names the object, and the server adds the selector.
            let separator = if fields.is_empty() { "" } else { "," };
            fields.extend([separator, "metadata.name=", &info.name]);
        }
        Some(Self { key: cached_key(info)?, labels: sorted(&options.label_selector), fields: sorted(&fields) })
    }

    fn is_of(&self, resource: &str) -> bool {
        self.key.strip_prefix(resource).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl ServedWatches {
    pub(super) fn open(&mut self, served: &Served, ordinal: u64) {
        self.0.entry(served.clone()).or_default().insert(ordinal);
    }

    pub(super) fn close(&mut self, served: &Served, ordinal: u64) {
        if let Some(ordinals) = self.0.get_mut(served) {
            ordinals.remove(&ordinal);
            if ordinals.is_empty() {
                self.0.remove(served);
            }
        }
    }

    /// The open watches that a line may be about.
    pub(super) fn that(&self, forced: &ForcedClose) -> Candidates<'_> {
        match &forced.named {
            NamedBy::Watch(served) => Candidates::These(self.0.get(served).map_or_else(Cow::default, Cow::Borrowed)),
            NamedBy::Resource(_) if self.0.len() > MOST_COMPARED => Candidates::TooMany,
            NamedBy::Resource(key) => {
                let watches = self.0.iter().filter(|(served, _)| served.is_of(key));
                Candidates::These(Cow::Owned(watches.flat_map(|(_, ordinals)| ordinals).copied().collect()))
            }
        }
    }
}

/// The last watches that were closed by force, and when: a watch may have two lines.
#[derive(Debug, Default)]
pub(super) struct ForcedCloses(VecDeque<(Timestamp, ForcedClose)>);

impl ForcedCloses {
    /// Maximum number of closes that are remembered.
    const MOST: usize = 64;

    /// Whether a line about these watches came shortly before.
    pub(super) fn has(&mut self, at: Timestamp, forced: &ForcedClose) -> bool {
        while self.0.front().is_some_and(|(before, _)| at.since(*before) > ENDS_WITHIN) {
            self.0.pop_front();
        }
        self.0.iter().any(|(_, other)| other.named == forced.named)
    }

    pub(super) fn note(&mut self, at: Timestamp, forced: &ForcedClose) {
        if self.0.len() >= Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back((at, forced.clone()));
    }
}

/// Whether the last event of a watch shows that it ended before its requested time.
pub(super) fn ended_early(event: &AuditEvent) -> bool {
    let (Some(received), Some(reached)) = (event.received, event.reached) else { return false };
    let asked = head(event).options.timeout_seconds.and_then(|seconds| u64::try_from(seconds).ok());
    asked.is_none_or(|seconds| reached.since(received) + TIMEOUT_SLACK < Duration::from_secs(seconds))
}

/// The terms of a selector in one order and form. Servers print them in another one than clients send them (kubernetes/apimachinery
/// `pkg/labels/selector.go`, `pkg/fields/selector.go`, v0.36).
fn sorted(selector: &str) -> String {
    let (mut terms, mut depth) = (vec![String::new()], 0_u32);
    for letter in selector.chars().filter(|letter| !letter.is_whitespace()) {
        match letter {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                terms.push(String::new());
                continue;
            }
            _other => {}
        }
        if let Some(term) = terms.last_mut() {
            term.push(letter);
        }
    }
    for term in &mut terms {
        if let Some((before, values)) = term.strip_suffix(')').and_then(|term| term.split_once('(')) {
            let mut values: Vec<&str> = values.split(',').collect();
            values.sort_unstable();
            *term = format!("{before}({})", values.join(","));
        }
        *term = term.replacen("==", "=", 1);
    }
    terms.sort_unstable();
    terms.join(",")
}

/// The plural name of a Go type, as in `*core.NetworkPolicy` (kubernetes/apimachinery `pkg/api/meta/restmapper.go`,
/// `UnsafeGuessKindToResource`, v0.16 to v0.36). `None` for types that stand for many resources.
fn plural_of(go_type: &str) -> Option<String> {
    let (package, kind) = go_type.trim_start_matches('*').split_once('.')?;
    if package == "unstructured" || kind.is_empty() {
        return None;
    }
    let kind = kind.to_ascii_lowercase();
    Some(match kind.as_bytes().last()? {
        _ if kind.ends_with("endpoints") => kind,
        b's' => format!("{kind}es"),
        b'y' => format!("{}ies", kind.trim_end_matches('y')),
        _other => format!("{kind}s"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_equal_in_any_order_and_form() {
        for (one, other) in [
            ("", ""),
            ("app=x, tier==web", "tier=web,app=x"),
            ("app in (b, a),!old", "!old,app in (a,b)"),
            ("spec.nodeName==n1,metadata.namespace!=x", "metadata.namespace!=x,spec.nodeName=n1"),
        ] {
            assert_eq!(sorted(one), sorted(other));
        }
        assert_ne!(sorted("app=x"), sorted("app!=x"));
    }

    #[test]
    fn go_types_have_the_plural_names_that_upstream_guesses() {
        for (name, expected) in [
            ("*core.Pod", Some("pods")),
            ("*core.Endpoints", Some("endpoints")),
            ("*networking.NetworkPolicy", Some("networkpolicies")),
            ("*networking.Ingress", Some("ingresses")),
            ("*unstructured.Unstructured", None),
            ("*core.", None),
            ("Pod", None),
        ] {
            assert_eq!(plural_of(name).as_deref(), expected, "{name}");
        }
    }
}
