//! Learns whether custom and aggregated resources have namespaces.
//!
//! The scope of a built-in resource is known ([`crate::k8s::is_namespaced`]). Another resource shows its scope in its first object,
//! or in its first accepted request in a namespace. Earlier rows are then merged with later ones.

use std::collections::BTreeMap;

use super::limits::Limits;
use super::snapshot::Snapshot;
use crate::exchange::{Exchange, Scope, Shape};
use crate::k8s;
use crate::observation::UpstreamName;

/// The scopes that were learned.
#[derive(Debug)]
pub(super) struct Scopes {
    /// Maximum number of custom and aggregated resources whose scope is remembered.
    most: usize,
    /// Whether a resource has namespaces. The key is the API server, and the resource as shapes name it.
    namespaced: BTreeMap<(UpstreamName, String), bool>,
}

impl Scopes {
    pub(super) const fn new(limits: &Limits) -> Self {
        Self { most: limits.histories, namespaced: BTreeMap::new() }
    }

    /// Whether the resource of `exchange` has namespaces, as known before its answer.
    pub(super) fn of(&self, exchange: &Exchange) -> Option<bool> {
        let resource = exchange.request.resource()?;
        self.namespaced.get(&(exchange.upstream.clone(), resource.to_string())).copied()
    }

    /// Learns from a request and its answer. Returns whether the scope is new.
    pub(super) fn learn(&mut self, exchange: &Exchange) -> bool {
        let Some(resource) = exchange.request.resource().filter(|resource| k8s::is_namespaced(resource).is_none()) else {
            return false;
        };
        let is_granted = exchange.response.as_ref().is_some_and(|(_, response)| response.is_granted());
        let is_in_namespace = exchange.request.info.as_ref().is_some_and(|info| !info.namespace.is_empty());
        let namespaced = if is_granted && is_in_namespace { Some(true) } else { exchange.namespaced };
        let Some(namespaced) = namespaced.filter(|_| self.namespaced.len() < self.most) else { return false };
        let key = (exchange.upstream.clone(), resource.to_string());
        let is_news = !self.namespaced.contains_key(&key);
        self.namespaced.entry(key).or_insert(namespaced);
        is_news
    }

    /// Sets the scope of a shape, if it was learned after the shape was made.
    pub(super) fn clarify(&self, shape: &mut Shape) {
        if shape.scope != Some(Scope::All) {
            return;
        }
        let resource = shape.resource.split('/').next().unwrap_or_default().to_owned();
        let key = (shape.upstream.clone().unwrap_or_default(), resource);
        if let Some(namespaced) = self.namespaced.get(&key) {
            shape.scope = Some(if *namespaced { Scope::AllNamespaces } else { Scope::Cluster });
        }
    }

    /// Sets the scopes of the single requests and storm members of a snapshot.
    pub(super) fn clarify_all(&self, snapshot: &mut Snapshot) {
        let requests = snapshot.requests.iter_mut().map(|request| &mut request.shape);
        let members = snapshot
            .storms
            .iter_mut()
            .flat_map(|storm| storm.members.iter_mut().chain(&mut storm.unlisted))
            .map(|member| &mut member.shape);
        requests.chain(members).for_each(|shape| self.clarify(shape));
    }
}
