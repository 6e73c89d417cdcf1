//! A `LabelSelector` as text: `a=b,c in (d,e)`, sorted by key.

use serde_json::Value;

/// The text of a selector; empty if it selects nothing in particular, `<invalid>` if an operator is unknown.
pub(super) fn text(selector: &Value) -> String {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let equalities = labels.map(|(key, value)| (key.as_str(), Some(format!("{key}={}", value.as_str().unwrap_or_default()))));
    let expressions = selector["matchExpressions"].as_array().into_iter().flatten();
    let expressions = expressions.map(|expression| (expression["key"].as_str().unwrap_or_default(), requirement(expression)));
    let mut requirements: Vec<(&str, Option<String>)> = equalities.chain(expressions).collect();
    requirements.sort_by_key(|(key, _)| *key);
    let all: Option<Vec<String>> = requirements.into_iter().map(|(_, requirement)| requirement).collect();
    all.map_or_else(|| "<invalid>".to_owned(), |all| all.join(","))
}

fn requirement(expression: &Value) -> Option<String> {
    let key = expression["key"].as_str().unwrap_or_default();
    let mut values: Vec<&str> = expression["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    values.sort_unstable();
    let values = values.join(",");
    match expression["operator"].as_str() {
        Some("In") => Some(format!("{key} in ({values})")),
        Some("NotIn") => Some(format!("{key} notin ({values})")),
        Some("Exists") => Some(key.to_owned()),
        Some("DoesNotExist") => Some(format!("!{key}")),
        Some(_) | None => None,
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
        assert_eq!(text(&both), "!a,b=1,c in (x,y),d=2,e notin (z),f");
        assert_eq!(text(&json!({})), "");
        assert_eq!(text(&json!({"matchExpressions": [{"key": "a", "operator": "Gt"}]})), "<invalid>");
    }
}
