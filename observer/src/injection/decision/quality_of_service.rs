//! The sidecar's resources, which must not change the pod's quality-of-service class.

use serde_json::{Value, json};

use super::containers::Container;

/// The resources of the sidecar. A limit for the CPU would delay the traffic, so there is one only in Guaranteed pods. `None` if the
/// pod has resources of its own: containers share them, and their requests must not exceed those of the pod.
pub(super) fn resources(spec: &Value, all: &[Container<'_>]) -> Option<Value> {
    let of_pod = |kind: &str| spec.pointer(&format!("/resources/{kind}")).and_then(Value::as_object);
    if ["requests", "limits"].into_iter().filter_map(of_pod).any(|resources| !resources.is_empty()) {
        return None;
    }
    if all.iter().all(is_guaranteed) {
        let both = json!({"cpu": "100m", "memory": "128Mi"});
        return Some(json!({"requests": both, "limits": both}));
    }
    Some(json!({"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}}))
}

/// Whether a container has limits for CPU and memory, and equal requests. An absent request is that of the limit; a limit of zero
/// is none (kubernetes/kubernetes `pkg/apis/core/v1/helper/qos`).
fn is_guaranteed(container: &Container<'_>) -> bool {
    ["cpu", "memory"].into_iter().all(|resource| {
        let quantity = |kind: &str| container.value.pointer(&format!("/resources/{kind}/{resource}"));
        let limit = quantity("limits").and_then(billionths).filter(|limit| *limit > 0);
        limit.is_some() && quantity("requests").is_none_or(|request| request.is_null() || billionths(request) == limit)
    })
}

/// Suffixes of quantities, and the number of billionths that each stands for (kubernetes/apimachinery `pkg/api/resource/suffix.go`).
const SUFFIXES: [(&str, u128); 15] = [
    ("Ki", (1 << 10) * BILLION),
    ("Mi", (1 << 20) * BILLION),
    ("Gi", (1 << 30) * BILLION),
    ("Ti", (1 << 40) * BILLION),
    ("Pi", (1 << 50) * BILLION),
    ("Ei", (1 << 60) * BILLION),
    ("n", 1),
    ("u", 1000),
    ("m", 1_000_000),
    ("k", 1000 * BILLION),
    ("M", 1_000_000 * BILLION),
    ("G", BILLION * BILLION),
    ("T", 1000 * BILLION * BILLION),
    ("P", 1_000_000 * BILLION * BILLION),
    ("E", BILLION * BILLION * BILLION),
];

const BILLION: u128 = 1_000_000_000;

/// A quantity in billionths, which Kubernetes rounds up to. One value has many spellings, such as `.5`, `0.50`, `500m` and `5e-1`.
/// `None` if it is none, or too large to be one of a container.
fn billionths(value: &Value) -> Option<u128> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let text = text.strip_prefix('+').unwrap_or(&text);
    let end = text.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (factor, exponent) = scale(suffix)?;
    let (units, decimals) = number.split_once('.').unwrap_or((number, ""));
    let decimals = decimals.trim_end_matches('0');
    let exponent = exponent.checked_sub(i32::try_from(decimals.len()).ok()?)?;
    let scaled = format!("{units}{decimals}").parse::<u128>().ok()?.checked_mul(factor)?;
    let power = 10_u128.checked_pow(exponent.unsigned_abs())?;
    if exponent < 0 { Some(scaled.div_ceil(power)) } else { scaled.checked_mul(power) }
}

/// The factor and the power of ten that a suffix stands for.
fn scale(suffix: &str) -> Option<(u128, i32)> {
    if let Some((_, factor)) = SUFFIXES.iter().find(|(known, _)| *known == suffix) {
        return Some((*factor, 0));
    }
    match suffix.strip_prefix(['e', 'E']) {
        Some(exponent) => Some((BILLION, exponent.parse().ok()?)),
        None => suffix.is_empty().then_some((BILLION, 0)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn spellings_of_one_quantity_are_equal() {
        for (spellings, expected) in [
            (
                &[json!(".5"), json!("0.5"), json!("+0.50"), json!("500m"), json!("500000u"), json!("5e-1"), json!("0.5")][..],
                BILLION / 2,
            ),
            (&[json!(1), json!("1"), json!("1."), json!("1000m"), json!("1e0"), json!("0.001k"), json!("1000000000n")], BILLION),
            (&[json!("1Gi"), json!("1024Mi"), json!(1_073_741_824), json!("1073741824000m")], (1 << 30) * BILLION),
            (&[json!("1e3"), json!("1E3"), json!("1k"), json!("0.0000000000000001e19")], 1000 * BILLION),
            (&[json!("0.1n"), json!("1e-9"), json!("0.0000000001")], 1),
            (&[json!(0), json!("0"), json!("0Mi")], 0),
        ] {
            for spelling in spellings {
                assert_eq!(billionths(spelling), Some(expected), "{spelling}");
            }
        }
    }

    #[test]
    fn other_text_is_no_quantity() {
        for text in
            ["", ".", "m", "-1", "1e3m", "1Mi2", "1 Gi", "1.2.3", "1e", "1e99999999999", "1e2147483648", "K", "1e40", "Ei", "0x10"]
        {
            assert_eq!(billionths(&json!(text)), None, "{text}");
        }
        for value in [json!(null), json!(true), json!([]), json!({"a": "1"}), json!(-1)] {
            assert_eq!(billionths(&value), None, "{value}");
        }
    }
}
