//! Estimates the memory of exchanges, and bounds the memory of one table.
//!
//! A structure counts its size. A text counts twice, because a snapshot has a copy, plus the cost of its allocation. The estimate
//! need not be exact: it must grow with the memory in use.

use super::client::Client;
use super::lifecycle::Exchange;
use super::shape::{Scope, Shape};
use super::watch::WatchStream;
use crate::http::{Identity, TraceParent};
use crate::k8s::{Continue, ListOptions, RequestInfo, Resource, Status};
use crate::observation::{BodyNotRead, Process, RequestLine, ResponseLine};
use crate::routing::{Alternative, EtcdRead, ServerProfile, Verdict};
use crate::wire::{ListMeta, ObjectRef};

/// Overhead of an allocator, and of a tree node, per allocation, in bytes.
const ALLOCATION: usize = 32;

/// Memory of one table, and its bound, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryUse {
    most: usize,
    used: usize,
}

impl MemoryUse {
    /// A table without memory in use, with a bound of `most` bytes.
    pub(crate) const fn of(most: usize) -> Self {
        Self { most, used: 0 }
    }

    /// Whether `bytes` more fit.
    pub(crate) const fn has_room(&self, bytes: usize) -> bool {
        self.used.saturating_add(bytes) <= self.most
    }

    /// Whether the memory in use exceeds the bound.
    pub(crate) const fn is_exceeded(&self) -> bool {
        self.used > self.most
    }

    pub(crate) const fn add(&mut self, bytes: usize) {
        self.used = self.used.saturating_add(bytes);
    }

    /// Counts an entry with `bytes` instead of the previously `counted` bytes.
    pub(crate) const fn recount(&mut self, counted: &mut usize, bytes: usize) {
        self.remove(std::mem::replace(counted, bytes));
        self.add(bytes);
    }

    pub(crate) const fn remove(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }
}

/// Memory of a structure in an allocation of its own, in bytes.
pub(crate) const fn of_structure<T>() -> usize {
    size_of::<T>() + ALLOCATION
}

/// Memory of texts in bytes, without the structures that hold them.
pub(crate) fn of_texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> usize {
    texts.into_iter().map(|text| of_length(text.len())).sum()
}

/// Memory of a text of this length, in bytes, without the structure that holds it.
pub(crate) const fn of_length(length: usize) -> usize {
    if length == 0 { 0 } else { 2 * length + ALLOCATION }
}

/// Memory of the texts of a process, in bytes.
pub(crate) fn of_process(process: &Process) -> usize {
    let Process { name, container, unit, .. } = process;
    let of_container = container.as_ref().map_or(0, |container| {
        let of_pod = container.pod.as_ref().map_or(0, |pod| {
            let workload = pod.workload.as_ref().map_or("", |workload| workload.name.as_str());
            of_texts([pod.namespace.as_str(), pod.name.as_str(), workload])
        });
        of_texts([container.id.as_str(), container.pod_uid.as_str(), text(container.name.as_ref())]) + of_pod
    });
    of_texts([name.as_str(), text(unit.as_ref())]) + of_container
}

impl Exchange {
    /// Estimated memory of the exchange, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let Self {
            upstream,
            container_name,
            request,
            verdict,
            response,
            kind,
            list,
            object,
            status,
            watch,
            not_read,
            upgraded,
            user,
            ..
        } = self;
        of_structure::<Self>()
            + of_texts([upstream.0.as_str(), text(container_name.as_ref()), kind, text(upgraded.as_ref())])
            + of_request(request)
            + verdict.as_ref().map_or(0, of_verdict)
            + response.as_ref().map_or(0, |(_, response)| of_response(response))
            + list.as_ref().map_or(0, of_list)
            + object.as_ref().map_or(0, ObjectRef::memory)
            + status.as_ref().map_or(0, Status::memory)
            + watch.as_ref().map_or(0, of_watch)
            + not_read.as_ref().map_or(0, of_reason)
            + of_identity(user.as_ref())
    }
}

impl Client {
    /// Estimated memory of the texts of the client of an exchange, in bytes.
    pub(crate) fn memory_of(exchange: &Exchange) -> usize {
        let RequestLine { identity, kubectl_command, .. } = &exchange.request;
        let texts = [text(exchange.container_name.as_ref()), Self::program_of(exchange), text(kubectl_command.as_ref())];
        of_texts(texts) + of_identity(identity.as_ref())
    }

    /// Estimated memory of its texts, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let Self { container_name, program, identity, kubectl_command } = self;
        of_texts([text(container_name.as_ref()), program.as_str(), text(kubectl_command.as_ref())]) + of_identity(identity.as_ref())
    }
}

impl Shape {
    /// Estimated memory of its texts, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let Self { resource, scope, options, upstream } = self;
        let namespace = match scope {
            Some(Scope::Namespace(namespace)) => namespace.as_str(),
            Some(Scope::AllNamespaces | Scope::Cluster | Scope::All) | None => "",
        };
        of_texts([resource.as_str(), namespace, options, upstream.as_ref().map_or("", |name| name.0.as_str())])
    }
}

/// Estimated memory of the profile of an API server, in bytes.
pub(crate) fn of_profile(profile: &ServerProfile) -> usize {
    let names = profile.uncached.iter().chain(&profile.aggregated);
    of_structure::<ServerProfile>() + names.map(|name| size_of::<String>() + of_texts([name.as_str()])).sum::<usize>()
}

/// Estimated memory of the texts of a resource's name, in bytes.
pub(crate) fn of_resource(resource: &Resource) -> usize {
    let Resource { group, version, resource } = resource;
    of_texts([group.as_str(), version, resource])
}

/// Estimated memory of the texts of an identity, in bytes.
pub(crate) fn of_identity(identity: Option<&Identity>) -> usize {
    match identity {
        Some(Identity::ServiceAccount { namespace, name }) => of_texts([namespace.as_str(), name]),
        Some(Identity::Subject { subject }) => of_texts([subject.as_str()]),
        Some(Identity::Bearer | Identity::OtherScheme) | None => 0,
    }
}

fn of_request(request: &RequestLine) -> usize {
    let RequestLine { method, info, options, user_agent, accept, identity, kubectl_command, traceparent, closes: _ } = request;
    of_texts([text(method.as_ref()), text(user_agent.as_ref()), text(accept.as_ref()), text(kubectl_command.as_ref())])
        + info.as_ref().map_or(0, of_info)
        + of_options(options)
        + of_identity(identity.as_ref())
        + of_traceparent(traceparent.as_deref())
}

/// Memory of a place in a trace, in bytes.
pub(crate) const fn of_traceparent(traceparent: Option<&TraceParent>) -> usize {
    match traceparent {
        Some(_) => of_structure::<TraceParent>(),
        None => 0,
    }
}

fn of_info(info: &RequestInfo) -> usize {
    let RequestInfo { verb: _, resource, subresource, namespace, name, verb_via_path_prefix: _, non_resource_path } = info;
    of_texts([subresource.as_str(), namespace, name, non_resource_path]) + resource.as_ref().map_or(0, of_resource)
}

/// Estimated memory of the texts of list options, in bytes.
pub(crate) fn of_options(options: &ListOptions) -> usize {
    let token = match &options.continue_token {
        Continue::Token(token) => token.start_key.as_str(),
        Continue::Unset | Continue::Invalid => "",
    };
    of_texts([options.label_selector.as_str(), &options.field_selector, &options.shard_selector, token])
}

fn of_response(response: &ResponseLine) -> usize {
    let ResponseLine {
        status: _,
        content_type,
        content_encoding,
        audit_id,
        flow_schema_uid,
        priority_level_uid,
        retry_after_seconds: _,
        warned: _,
    } = response;
    of_texts([content_type, content_encoding, audit_id, flow_schema_uid, priority_level_uid].map(|field| text(field.as_ref())))
}

fn of_verdict(verdict: &Verdict) -> usize {
    of_reads(&verdict.reads) + of_reads(&verdict.fallback_reads) + of_alternatives(&verdict.alternatives)
}

/// Estimated memory of reads of etcd, in bytes.
pub(crate) fn of_reads(reads: &[EtcdRead]) -> usize {
    reads.iter().map(|read| size_of::<EtcdRead>() + of_texts([read.key.as_str(), text(read.range_end.as_ref())])).sum()
}

/// Estimated memory of a verdict's alternatives, in bytes.
pub(crate) fn of_alternatives(alternatives: &[Alternative]) -> usize {
    let alternative = |one: &Alternative| size_of::<Alternative>() + of_texts([one.when.as_str()]) + of_reads(&one.reads);
    alternatives.iter().map(alternative).sum()
}

fn of_list(list: &ListMeta) -> usize {
    let ListMeta { resource_version, continue_token, remaining_item_count: _ } = list;
    of_texts([resource_version.as_str(), continue_token])
}

/// Estimated memory of the texts of a watch, in bytes.
pub(crate) fn of_watch(watch: &WatchStream) -> usize {
    of_texts([watch.last_resource_version.as_str()]) + watch.error.as_ref().map_or(0, Status::memory)
}

/// Estimated memory of the reason for an unread body, in bytes.
pub(crate) fn of_reason(reason: &BodyNotRead) -> usize {
    match reason {
        BodyNotRead::MediaType(text) | BodyNotRead::ContentCoding(text) | BodyNotRead::Malformed { what: text, .. } => {
            of_texts([text.as_str()])
        }
    }
}

fn text(text: Option<&String>) -> &str {
    text.map(String::as_str).unwrap_or_default()
}
