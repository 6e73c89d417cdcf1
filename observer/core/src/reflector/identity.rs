//! The identity of a reflector: the properties that all of its requests share.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::exchange::{ClientId, Exchange, of_texts};
use crate::k8s::{Resource, Verb};
use crate::observation::UpstreamName;

/// A reflector, numbered from 1 in order of first appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReflectorId(pub u64);

impl fmt::Display for ReflectorId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "#{}", self.0)
    }
}

/// How much of each object a client asks for (`as=` in `Accept`, kubernetes/apimachinery pkg/runtime/negotiate.go).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Representation {
    /// The full object.
    #[default]
    Object,
    /// Metadata only (`PartialObjectMetadata`, `PartialObjectMetadataList`).
    Metadata,
    /// A row of columns, as kubectl prints them (`Table`).
    Table,
}

impl Representation {
    /// Reads the first media type of `Accept`. A list and its watch name different kinds with the same meaning.
    fn of(accept: Option<&str>) -> Self {
        let first = accept.and_then(|accept| accept.split(',').next()).unwrap_or_default();
        let kind = first.split(';').find_map(|parameter| parameter.trim().strip_prefix("as=")).unwrap_or_default();
        match kind {
            "PartialObjectMetadata" | "PartialObjectMetadataList" => Self::Metadata,
            "Table" => Self::Table,
            _whole => Self::Object,
        }
    }
}

/// The properties that all requests of one reflector share. One client may have several reflectors with the same key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub client: ClientId,
    pub upstream: UpstreamName,
    pub resource: Resource,
    pub namespace: String,
    pub label_selector: String,
    pub field_selector: String,
    pub shard_selector: String,
    pub representation: Representation,
}

impl Key {
    /// Whether a request is a list or a watch, and not of a subresource.
    pub(super) fn is_of_interest(exchange: &Exchange) -> bool {
        let info = exchange.request.info.as_ref();
        info.is_some_and(|info| matches!(info.verb, Verb::List | Verb::Watch) && info.subresource.is_empty())
    }

    /// Estimated memory of its strings, in bytes.
    pub(super) fn memory(&self) -> usize {
        let Self { client: _, upstream, resource, namespace, label_selector, field_selector, shard_selector, representation: _ } =
            self;
        let Resource { group, version, resource } = resource;
        of_texts([upstream.0.as_str(), group, version, resource, namespace, label_selector, field_selector, shard_selector])
    }

    /// The key of a list or a watch; `None` without a resource.
    pub(super) fn of(exchange: &Exchange, client: ClientId) -> Option<Self> {
        let info = exchange.request.info.as_ref()?;
        let options = &exchange.request.options;
        Some(Self {
            client,
            upstream: exchange.upstream.clone(),
            resource: info.resource.clone()?,
            namespace: info.namespace.clone(),
            label_selector: options.label_selector.clone(),
            field_selector: options.field_selector.clone(),
            shard_selector: options.shard_selector.clone(),
            representation: Representation::of(exchange.request.accept.as_deref()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn representation_follows_the_accept_header() {
        for (accept, expected) in [
            (
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
                Representation::Metadata,
            ),
            ("application/json;g=meta.k8s.io;as=PartialObjectMetadata;v=v1", Representation::Metadata),
            ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", Representation::Table),
            ("application/json, */*", Representation::Object),
            ("application/vnd.kubernetes.protobuf,application/json;as=Table", Representation::Object),
            ("", Representation::Object),
        ] {
            assert_eq!(Representation::of(Some(accept)), expected, "{accept}");
        }
        assert_eq!(Representation::of(None), Representation::Object);
    }
}
