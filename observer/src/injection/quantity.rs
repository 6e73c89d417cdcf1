//! Quantities of Kubernetes, such as `500m` and `1Gi`.

use serde_json::Value;

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

pub(super) const BILLION: u128 = 1_000_000_000;

const THOUSANDTH: u128 = 1_000_000;

/// A quantity in billionths, which Kubernetes rounds up to. One value has many spellings, such as `.5`, `0.50`, `500m` and `5e-1`.
/// `None` if it is none, or too large to be one of a container.
pub(super) fn billionths(value: &Value) -> Option<u128> {
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

/// The spelling in which the API server returns a quantity of a container: rounded up to thousandths (kubernetes/kubernetes
/// `pkg/apis/core/v1/defaults.go`, `SetDefaults_ResourceList`), without decimals, and with the largest suffix of its family.
pub(super) fn canonical(text: &str) -> Option<String> {
    let amount = billionths(&Value::from(text))?.div_ceil(THOUSANDTH).checked_mul(THOUSANDTH)?;
    let is_binary = text.ends_with('i') && amount >= 1024 * BILLION && amount.is_multiple_of(BILLION);
    let of_family = |(suffix, _): &&(&str, u128)| suffix.ends_with('i') == is_binary;
    let known = SUFFIXES.iter().filter(of_family).map(|(suffix, factor)| (*suffix, *factor)).chain([("", BILLION)]);
    let (suffix, factor) = known.filter(|(_, factor)| amount.is_multiple_of(*factor)).max_by_key(|(_, factor)| *factor)?;
    if amount == 0 { Some("0".to_owned()) } else { Some(format!("{}{suffix}", amount / factor)) }
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
    fn spelling_of_the_api_server_is_canonical() {
        for (text, expected) in [
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1500m", "1500m"),
            ("2000", "2k"),
            ("1e3", "1k"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("64Mi", "64Mi"),
            ("1.953125Ki", "2000"),
            ("0.5Ki", "512"),
            ("0Mi", "0"),
            ("100000u", "100m"),
            ("0.5m", "1m"),
            ("100001u", "101m"),
            ("1n", "1m"),
        ] {
            assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(canonical("1 Gi"), None);
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
