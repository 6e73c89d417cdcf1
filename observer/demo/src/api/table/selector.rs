//! Labels and label selectors as text: `a=b,c in (d,e)`, sorted by key.

use serde_json::{Map, Value};

use super::field::{list, map, text};

const NONE: &str = "<none>";

/// `a=b,c=d`, or `<none>`.
pub(super) fn labels(labels: Option<&Map<String, Value>>) -> String {
    let mut pairs: Vec<String> = labels.into_iter().flatten().map(|(name, value)| pair(name, value)).collect();
    pairs.sort_unstable();
    if pairs.is_empty() { NONE.to_owned() } else { pairs.join(",") }
}

/// A `LabelSelector` as text; `<none>` for an empty one.
pub(super) fn selector_or_none(selector: Option<&Value>) -> String {
    match selector.map(self::selector).unwrap_or_default() {
        text if text.is_empty() => NONE.to_owned(),
        text => text,
    }
}

/// A `LabelSelector` as text; empty if it selects nothing in particular, `<invalid>` if an operator is unknown.
pub(in crate::api) fn selector(selector: &Value) -> String {
    let equalities =
        map(selector, "/matchLabels").into_iter().flatten().map(|(name, value)| (name.as_str(), Some(pair(name, value))));
    let expressions =
        list(selector, "/matchExpressions").iter().map(|expression| (text(expression, "/key"), requirement(expression)));
    let mut requirements: Vec<(&str, Option<String>)> = equalities.chain(expressions).collect();
    requirements.sort_by_key(|(key, _)| *key);
    let all: Option<Vec<String>> = requirements.into_iter().map(|(_, requirement)| requirement).collect();
    all.map_or_else(|| "<invalid>".to_owned(), |all| all.join(","))
}

fn pair(name: &str, value: &Value) -> String {
    format!("{name}={}", value.as_str().unwrap_or_default())
}

fn requirement(expression: &Value) -> Option<String> {
    let key = text(expression, "/key");
    let mut values: Vec<&str> = list(expression, "/values").iter().filter_map(Value::as_str).collect();
    values.sort_unstable();
    let values = values.join(",");
    match text(expression, "/operator") {
        "In" => Some(format!("{key} in ({values})")),
        "NotIn" => Some(format!("{key} notin ({values})")),
        "Exists" => Some(key.to_owned()),
        "DoesNotExist" => Some(format!("!{key}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_selector_is_sorted_by_key() {
        let both = json!({
            "matchLabels": {"b": "1", "d": "2"},
            "matchExpressions": [
                {"key": "c", "operator": "In", "values": ["y", "x"]},
                {"key": "a", "operator": "DoesNotExist"},
                {"key": "e", "operator": "NotIn", "values": ["z"]},
                {"key": "f", "operator": "Exists"},
            ],
        });
        assert_eq!(selector(&both), "!a,b=1,c in (x,y),d=2,e notin (z),f");
        assert_eq!(selector(&json!({})), "");
        assert_eq!(selector_or_none(None), "<none>");
        assert_eq!(selector(&json!({"matchExpressions": [{"key": "a", "operator": "Gt"}]})), "<invalid>");
    }
}
