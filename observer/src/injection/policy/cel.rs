//! Text in the Common Expression Language, made of constants and values of Rust.

use serde_json::Value;

/// The characters around an expression within a text. No reason and no value of a sidecar has them.
const HOLE: [char; 2] = ['⟦', '⟧'];

/// A variable of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) name: &'static str,
    pub(super) expression: String,
}

impl Variable {
    /// One whose expression has these values in the place of `<NAME>`.
    pub(super) fn filled(name: &'static str, template: &str, values: &[(&str, String)]) -> Self {
        Self { name, expression: filled(template, values) }
    }
}

/// A template with values in the place of `<NAME>`. A value that occupies a line of its own is indented like that line.
pub(super) fn filled(template: &str, values: &[(&str, String)]) -> String {
    let fill = |text: String, (name, value): &(&str, String)| text.replace(&format!("<{name}>"), value);
    values.iter().fold(template.trim().to_owned(), fill)
}

/// A part of a text, or a complete value, that the policy evaluates.
pub(super) fn hole(expression: &str) -> String {
    let [open, close] = HOLE;
    format!("{open}{expression}{close}")
}

/// A string, joined from its parts if it has holes. A string of JSON is one of CEL.
pub(super) fn string(text: &str) -> String {
    let literal = |text: &str| Value::from(text).to_string();
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, (expression, after))) =
        rest.split_once(HOLE[0]).and_then(|(before, rest)| Some((before, rest.split_once(HOLE[1])?)))
    {
        parts.extend((!before.is_empty()).then(|| literal(before)));
        parts.push(expression.to_owned());
        rest = after;
    }
    if !rest.is_empty() || parts.is_empty() {
        parts.push(literal(rest));
    }
    parts.join(" + ")
}

/// A list of strings.
pub(super) fn strings(texts: &[&str]) -> String {
    value(&texts.iter().copied().map(Value::from).collect())
}

/// A value of JSON. Lists and maps of CEL have items of one type, so others are wrapped. A key that begins with `?` has an optional.
pub(super) fn value(of: &Value) -> String {
    match of {
        Value::String(text) => string(text),
        Value::Array(items) => {
            let is_uniform = items.iter().all(is_text);
            format!("[{}]", items.iter().map(|item| element(item, is_uniform)).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let is_uniform = members.values().all(is_text);
            let member = |(key, of): (&String, &Value)| match key.strip_prefix('?') {
                Some(key) => format!("?{}: {}", string(key), value(of)),
                None => format!("{}: {}", string(key), element(of, is_uniform)),
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => of.to_string(),
    }
}

fn element(of: &Value, is_uniform: bool) -> String {
    if is_uniform { value(of) } else { format!("dyn({})", value(of)) }
}

/// Whether the value is a string for certain: an expression alone may have another type.
fn is_text(of: &Value) -> bool {
    of.as_str().is_some_and(|text| !text.starts_with(HOLE[0]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_strings_of_cel() {
        for (text, expected) in [
            ("", r#""""#.to_owned()),
            ("the sidecar's \"port\"\\", r#""the sidecar's \"port\"\\""#.to_owned()),
            (&format!("a {} b {}", hole("e.name"), hole("f[0]")), r#""a " + e.name + " b " + f[0]"#.to_owned()),
            (&hole("string(n)"), "string(n)".to_owned()),
        ] {
            assert_eq!(string(text), expected);
        }
    }

    #[test]
    fn values_of_several_types_are_wrapped() {
        let of = json!({"name": "a", "port": 1, "list": ["x", "y"], "?env": hole("o"), "is": {"so": "z"}, "mixed": [true, {}]});
        let expected = concat!(
            r#"{"name": dyn("a"), "port": dyn(1), "list": dyn(["x", "y"]), ?"env": o, "is": dyn({"so": "z"}), "#,
            r#""mixed": dyn([dyn(true), dyn({})])}"#
        );
        assert_eq!(value(&of), expected);
    }
}
