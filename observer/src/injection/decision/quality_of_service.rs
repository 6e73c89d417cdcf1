//! The sidecar's resources, which must not change the pod's quality-of-service class.

use serde_json::{Map, Value, json};

use super::containers::Container;
use crate::injection::options::{Amount, LEAST_MEMORY, Options};
use crate::injection::quantity::billionths;
use crate::pod_layout::MEMORY_LIMIT;

/// The resources that decide about the class of a pod.
pub(in crate::injection) const CLASS: [&str; 2] = ["cpu", "memory"];

/// Requests and limits, unless flags give others. docs/benches.md has the measurements.
const REQUESTS: [(&str, &str); 2] = [("cpu", "10m"), ("memory", "32Mi")];
/// A limit for the CPU would delay the traffic.
const LIMITS: [(&str, &str); 1] = [("memory", MEMORY_LIMIT)];
/// Both in a Guaranteed pod, which needs limits for both.
const GUARANTEED: [(&str, &str); 2] = [("cpu", "100m"), ("memory", MEMORY_LIMIT)];

/// The sidecar's resources.
#[derive(Clone, Debug)]
pub(in crate::injection) struct Resources {
    /// `None` if it has none.
    pub(in crate::injection) value: Option<Value>,
    /// Whether they make a Guaranteed pod Burstable.
    pub(super) lose_guarantee: bool,
}

/// The resources of a pod that decide about those of the sidecar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::injection) enum Class {
    /// The pod has resources of its own.
    Shared,
    Guaranteed,
    Other,
}

/// Decides about the resources.
pub(super) fn resources(spec: &Value, all: &[Container<'_>], options: &Options) -> Resources {
    let is_guaranteed = all.iter().all(|container| is_guaranteed(container.value));
    let class = match (has_resources(spec), is_guaranteed) {
        (true, _) => Class::Shared,
        (false, true) => Class::Guaranteed,
        (false, false) => Class::Other,
    };
    resources_in(class, options)
}

/// The resources in a pod of this class. There are none in a pod with resources of its own, unless flags give some: containers share
/// them, and the requests of all containers must not exceed those of the pod.
pub(in crate::injection) fn resources_in(class: Class, options: &Options) -> Resources {
    let (requests, limits) = match class {
        Class::Shared => (&[][..], &[][..]),
        Class::Guaranteed => (&GUARANTEED[..], &GUARANTEED[..]),
        Class::Other => (&REQUESTS[..], &LIMITS[..]),
    };
    let sets_both = class == Class::Guaranteed;
    let mut value = json!({"requests": {}, "limits": {}});
    for resource in Amount::RESOURCES {
        let (request, limit) = (find(&options.requests, resource), find(&options.limits, resource));
        let default = |of: &[(&str, &'static str)]| of.iter().find(|(known, _)| *known == resource).map(|(_, quantity)| *quantity);
        // Where both must be equal, one flag sets both, unless the result is a limit within which no sidecar runs.
        let suffices = |limit: &&str| resource != "memory" || parsed(limit) >= Some(LEAST_MEMORY);
        let other_request = positive(limit).filter(|_| sets_both);
        let other_limit = positive(request).filter(|_| sets_both).filter(suffices);
        let chosen_request = request.or(other_request);
        let chosen_limit = limit.or(other_limit);
        let request = chosen_request.or_else(|| default(requests).map(|request| smaller(request, chosen_limit)));
        let limit = chosen_limit.or_else(|| default(limits).map(|limit| larger(limit, chosen_request)));
        // A limit of zero is none. An absent request is that of the limit: written out, it is the same in a Pod that the API server
        // returns, with its defaults.
        let limit = positive(limit);
        for (kind, quantity) in [("requests", request.or(limit)), ("limits", limit)] {
            if let (Some(quantity), Some(amounts)) = (quantity, value.get_mut(kind).and_then(Value::as_object_mut)) {
                amounts.insert(resource.to_owned(), quantity.into());
            }
        }
    }
    let of_sidecar = json!({"resources": value});
    let lose_guarantee = sets_both && !is_guaranteed(&of_sidecar);
    if let Value::Object(kinds) = &mut value {
        kinds.retain(|_, amounts| amounts != &Value::Object(Map::new()));
    }
    Resources { value: Some(value).filter(|value| *value != json!({})), lose_guarantee }
}

fn find<'o>(amounts: &'o [Amount], resource: &str) -> Option<&'o str> {
    amounts.iter().rev().find(|amount| amount.resource == resource).map(|amount| amount.quantity.as_str())
}

/// Without an amount of zero.
fn positive(quantity: Option<&str>) -> Option<&str> {
    quantity.filter(|quantity| parsed(quantity) > Some(0))
}

fn parsed(quantity: &str) -> Option<u128> {
    billionths(&Value::from(quantity))
}

/// A request must not exceed the limit, which is none if it is zero.
fn smaller<'q>(request: &'q str, limit: Option<&'q str>) -> &'q str {
    limit.filter(|limit| parsed(limit) > Some(0) && parsed(limit) < parsed(request)).unwrap_or(request)
}

fn larger<'q>(limit: &'q str, request: Option<&'q str>) -> &'q str {
    request.filter(|request| parsed(request) > parsed(limit)).unwrap_or(limit)
}

fn has_resources(spec: &Value) -> bool {
    let of_pod = |kind: &str| spec.pointer(&format!("/resources/{kind}")).and_then(Value::as_object);
    ["requests", "limits"].into_iter().filter_map(of_pod).any(|resources| !resources.is_empty())
}

/// Whether a container has limits for CPU and memory, and equal requests. An absent request is that of the limit; a limit of zero
/// is none (kubernetes/kubernetes `pkg/apis/core/v1/helper/qos`).
fn is_guaranteed(container: &Value) -> bool {
    CLASS.into_iter().all(|resource| {
        let quantity = |kind: &str| container.pointer(&format!("/resources/{kind}/{resource}"));
        let limit = quantity("limits").and_then(billionths).filter(|limit| *limit > 0);
        limit.is_some() && quantity("requests").is_none_or(|request| request.is_null() || billionths(request) == limit)
    })
}
