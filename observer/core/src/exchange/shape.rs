//! The shape of a request: what makes two requests the same question.

use std::fmt;

use serde::Serialize;

use super::lifecycle::Exchange;
use crate::k8s::{Continue, ListOptions, RequestInfo, ResourceVersion, ResourceVersionMatch, Verb};
use crate::observation::UpstreamName;

// The words of [`Shape::options`] that are asked for again below.
const BETWEEN: &str = " · ";
const CONTINUE: &str = "continue";
const LIMIT: &str = "limit=";
const ANY: &str = "RV=0";
const NAMED: &str = "RV=N";
const LABELS: &str = "labels";
const FIELDS: &str = "fields";

/// Which objects of a resource are asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Those of one namespace.
    Namespace(String),
    /// Those of all namespaces.
    AllNamespaces,
    /// Those of a resource without namespaces.
    Cluster,
    /// Those of a custom or aggregated resource of which nothing shows yet whether it has namespaces.
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

/// What a request asks, without its particular revision, and of whom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Shape {
    /// `pods`, `deployments.apps`, with the subresource behind a slash; for requests that are not about a resource the path.
    pub resource: String,
    /// Which objects.
    pub scope: Option<Scope>,
    /// The options that matter for the answer, joined by ` · `: `limit=500`, `RV=0`, `continue`, selectors.
    pub options: String,
    /// Which API server; `None` where clients used one only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<UpstreamName>,
}

impl Shape {
    /// The shape of an exchange. Whether a custom resource has namespaces shows in the objects of the answer, so it may become clearer until the end.
    pub fn of(exchange: &Exchange) -> Self {
        let upstream = Some(&exchange.upstream).filter(|name| !name.is_empty()).cloned();
        let Some(info) = &exchange.request.info else {
            return Self { resource: "unknown".to_owned(), scope: None, options: String::new(), upstream };
        };
        let Some(resource) = &info.resource else {
            return Self { resource: info.non_resource_path.clone(), scope: None, options: String::new(), upstream };
        };
        let subresource = if info.subresource.is_empty() { String::new() } else { format!("/{}", info.subresource) };
        Self {
            resource: format!("{resource}{subresource}"),
            scope: Some(scope(info, exchange.namespaced)),
            options: options(info, &exchange.request.options),
            upstream,
        }
    }

    /// Whether labels or fields select among the objects.
    pub fn has_selector(&self) -> bool {
        self.words().any(|word| word.starts_with(LABELS) || word.starts_with(FIELDS))
    }

    /// Whether a field selector names the one object that is asked for.
    pub fn names_one(&self) -> bool {
        self.words().any(|word| word.starts_with(FIELDS) && word.contains("metadata.name="))
    }

    /// Whether it is a page, or may be: the answer need not hold all that there is.
    pub fn is_in_pages(&self) -> bool {
        self.words().any(|word| word == CONTINUE || word.starts_with(LIMIT))
    }

    /// Whether it is a page behind the first.
    pub fn continues(&self) -> bool {
        self.words().any(|word| word == CONTINUE)
    }

    /// Whether any state that the server has at hand will do.
    pub fn is_from_any(&self) -> bool {
        self.words().any(|word| word.starts_with(ANY))
    }

    /// Whether a revision is named.
    pub fn names_revision(&self) -> bool {
        self.words().any(|word| word.starts_with(NAMED))
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.options.split(BETWEEN)
    }

    /// What a list and the watches after it have in common: of the options the selectors only.
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
    let given = [(LABELS, &options.label_selector), (FIELDS, &options.field_selector), ("shard", &options.shard_selector)];
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
        ResourceVersionMatch::Exact => format!("{text} Exact"),
        ResourceVersionMatch::NotOlderThan => format!("{text} NotOlderThan"),
        ResourceVersionMatch::Invalid => format!("{text} match invalid"),
    })
}
