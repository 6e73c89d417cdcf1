//! The shape of a request: its resource, objects, options and API server. Two requests of one shape ask the same question, apart
//! from the revision.

use std::fmt;

use serde::Serialize;

use super::lifecycle::Exchange;
use crate::k8s::{Continue, ListOptions, RequestInfo, ResourceVersion, ResourceVersionMatch, Verb};
use crate::observation::UpstreamName;

// Words of [`Shape::options`] that the methods below look for.
const BETWEEN: &str = " · ";
const CONTINUE: &str = "continue";
const LIMIT: &str = "limit=";
const ANY: &str = "RV=0";
const NAMED: &str = "RV=N";
const LABELS: &str = "labels";
const FIELDS: &str = "fields";
const SHARD: &str = "shard";

/// The objects of a resource that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Those of one namespace.
    Namespace(String),
    /// Those of all namespaces.
    AllNamespaces,
    /// Those of a resource without namespaces.
    Cluster,
    /// All objects of a custom or aggregated resource, while it is unknown whether the resource has namespaces.
    All,
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace(namespace) => write!(formatter, "{namespace}/"),
            Self::AllNamespaces => formatter.write_str("all namespaces"),
            Self::Cluster => formatter.write_str("cluster"),
            Self::All => formatter.write_str("all"),
        }
    }
}

/// Resource, objects, options and API server of a request, without its revision.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Shape {
    /// `pods` or `deployments.apps`, with a subresource after a slash. For a non-resource request, its path; `unknown` if method or
    /// path is unknown.
    pub resource: String,
    /// The objects that are asked for; `None` for a non-resource or unknown request.
    pub scope: Option<Scope>,
    /// The options that matter for the answer, joined by ` · `: `limit=500`, `RV=0`, `continue`, selectors.
    pub options: String,
    /// The API server; `None` when clients used only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<UpstreamName>,
}

impl Shape {
    /// The shape of an exchange. The objects of an answer show whether a custom resource has namespaces, so the shape may change
    /// until the end.
    pub fn of(exchange: &Exchange) -> Self {
        let upstream = Some(&exchange.upstream).filter(|name| !name.is_empty()).cloned();
        let Some(info) = &exchange.request.info else {
            return Self { resource: "unknown".to_owned(), scope: None, options: String::new(), upstream };
        };
        let Some(resource) = &info.resource else {
            return Self { resource: info.non_resource_path.clone(), scope: None, options: String::new(), upstream };
        };
        Self {
            resource: text_of([(&resource.resource, ""), (&resource.group, "."), (&info.subresource, "/")]),
            scope: Some(scope(info, exchange.namespaced)),
            options: options(info, &exchange.request.options),
            upstream,
        }
    }

    /// Whether it has a selector of labels, fields or a shard.
    pub fn has_selector(&self) -> bool {
        self.words().any(|word| [LABELS, FIELDS, SHARD].iter().any(|selector| word.starts_with(selector)))
    }

    /// Whether a field selector on `metadata.name` names one object.
    pub fn names_one(&self) -> bool {
        self.words().any(|word| word.starts_with(FIELDS) && word.contains("metadata.name="))
    }

    /// Whether the answer may be one page and not hold all objects: there is a limit or a continue token.
    pub fn is_in_pages(&self) -> bool {
        self.words().any(|word| word == CONTINUE || word.starts_with(LIMIT))
    }

    /// The limit of a list; `None` without one.
    pub fn limit(&self) -> Option<u64> {
        self.words().find_map(|word| word.strip_prefix(LIMIT)?.parse().ok())
    }

    /// Whether it is a page after the first.
    pub fn continues(&self) -> bool {
        self.words().any(|word| word == CONTINUE)
    }

    /// Whether it has `resourceVersion=0`, so that any state of the server will do.
    pub fn is_from_any(&self) -> bool {
        self.words().any(|word| word.starts_with(ANY))
    }

    /// Whether it names a revision above 0.
    pub fn names_revision(&self) -> bool {
        self.words().any(|word| word.starts_with(NAMED))
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.options.split(BETWEEN)
    }

    /// The shape that a list and its watches have in common: of the options, only the selectors.
    pub fn watched(exchange: &Exchange) -> Self {
        Self { options: selectors(&exchange.request.options).join(BETWEEN), ..Self::of(exchange) }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.resource)?;
        if let Some(scope) = &self.scope {
            write!(formatter, " · {scope}")?;
        }
        if !self.options.is_empty() {
            write!(formatter, " · {}", self.options)?;
        }
        if let Some(upstream) = &self.upstream {
            write!(formatter, " · at {}", upstream.0)?;
        }
        Ok(())
    }
}

fn scope(info: &RequestInfo, namespaced: Option<bool>) -> Scope {
    if !info.namespace.is_empty() {
        return Scope::Namespace(info.namespace.clone());
    }
    match namespaced {
        Some(true) => Scope::AllNamespaces,
        Some(false) => Scope::Cluster,
        None => Scope::All,
    }
}

/// The parts that are not empty, each after its mark.
fn text_of(parts: [(&str, &str); 3]) -> String {
    let mut text = String::with_capacity(parts.iter().map(|(part, mark)| part.len() + mark.len()).sum());
    for (part, mark) in parts {
        if !part.is_empty() {
            text.extend([mark, part]);
        }
    }
    text
}

fn options(info: &RequestInfo, options: &ListOptions) -> String {
    let mut words = Vec::new();
    if options.continue_token == Continue::Unset {
        words.extend(revision(options));
    } else {
        words.push(CONTINUE.to_owned());
    }
    if options.limit > 0 {
        words.push(format!("{LIMIT}{}", options.limit));
    }
    if info.verb == Verb::Watch && options.send_initial_events == Some(true) {
        words.push("sendInitialEvents".to_owned());
    }
    words.extend(selectors(options));
    words.join(BETWEEN)
}

fn selectors(options: &ListOptions) -> Vec<String> {
    let given = [(LABELS, &options.label_selector), (FIELDS, &options.field_selector), (SHARD, &options.shard_selector)];
    given.into_iter().filter(|(_, selector)| !selector.is_empty()).map(|(name, selector)| format!("{name} {selector}")).collect()
}

fn revision(options: &ListOptions) -> Option<String> {
    let text = match options.resource_version {
        ResourceVersion::Unset => return None,
        ResourceVersion::Any => ANY,
        ResourceVersion::At(_) => NAMED,
        ResourceVersion::Invalid => "RV invalid",
    };
    Some(match options.resource_version_match {
        ResourceVersionMatch::Unset => text.to_owned(),
        ResourceVersionMatch::Exact => format!("{text} match=Exact"),
        ResourceVersionMatch::NotOlderThan => format!("{text} match=NotOlderThan"),
        ResourceVersionMatch::Invalid => format!("{text} match invalid"),
    })
}
