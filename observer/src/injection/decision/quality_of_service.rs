//! The sidecar's resources, which must not change the pod's quality-of-service class.

use serde_json::{Value, json};

use super::containers::Container;

/// The resources of the sidecar. A limit for the CPU would delay the traffic, so there is one only in Guaranteed pods.
pub(super) fn resources(all: &[Container<'_>]) -> Value {
    if all.iter().all(is_guaranteed) {
        let both = json!({"cpu": "100m", "memory": "128Mi"});
        return json!({"requests": both, "limits": both});
    }
    json!({"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}})
}

/// Whether a container has limits for CPU and memory, and equal requests. An absent request is that of the limit.
fn is_guaranteed(container: &Container<'_>) -> bool {
    ["cpu", "memory"].into_iter().all(|resource| {
        let quantity = |kind: &str| container.value.pointer(&format!("/resources/{kind}/{resource}")).and_then(quantity);
        quantity("limits").is_some_and(|limit| quantity("requests").is_none_or(|request| request == limit))
    })
}

/// A quantity in thousandths, which may be written as `1`, `1000m` or `"1.0"`.
fn quantity(value: &Value) -> Option<u128> {
    const SUFFIXES: [(&str, u128); 13] = [
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("Ti", 1 << 40),
        ("Pi", 1 << 50),
        ("Ei", 1 << 60),
        ("k", 1000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("T", 1_000_000_000_000),
        ("P", 1_000_000_000_000_000),
        ("E", 1_000_000_000_000_000_000),
        ("", 1),
    ];
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(thousandths) = text.strip_suffix('m') {
        return thousandths.parse().ok();
    }
    let (number, factor) = SUFFIXES.iter().find_map(|(suffix, factor)| Some((text.strip_suffix(suffix)?, *factor)))?;
    let (units, decimals) = number.split_once('.').unwrap_or((number, ""));
    let decimals: u128 = format!("{decimals:0<3}").get(..3)?.parse().ok()?;
    units.parse::<u128>().ok()?.checked_mul(1000)?.checked_add(decimals)?.checked_mul(factor)
}
