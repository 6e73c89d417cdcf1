//! Label selectors: parses a `labelSelector` parameter, and matches labels against it.
//!
//! kubernetes/apimachinery pkg/labels/selector.go v0.34.

use crate::store::Object;

/// Maximum number of requirements of one selector; a longer selector is refused.
const MOST_REQUIREMENTS: usize = 100;

/// A label selector. An object matches if it fulfils all requirements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Exists,
    DoesNotExist,
    In,
    NotIn,
    GreaterThan,
    LessThan,
}

impl LabelSelector {
    /// Parses the parameter. The error is the part of the message that names the problem.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut requirements = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let end = end_of_requirement(rest);
            let (requirement, behind) = rest.split_at(end);
            requirements.push(Requirement::parse(requirement.trim())?);
            rest = match behind.strip_prefix(',') {
                Some(next) if next.trim().is_empty() => return Err("found '', expected: identifier after ','".to_owned()),
                Some(next) => next.trim_start(),
                None => behind,
            };
            if requirements.len() > MOST_REQUIREMENTS {
                return Err(format!("more than {MOST_REQUIREMENTS} requirements"));
            }
        }
        Ok(Self { requirements })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(object.label(&requirement.key)))
    }
}

impl Requirement {
    fn parse(text: &str) -> Result<Self, String> {
        if let Some(key) = text.strip_prefix('!') {
            return Self::new(key.trim(), Operator::DoesNotExist, Vec::new());
        }
        if let Some(inside) = text.strip_suffix(')') {
            let (head, values) = inside.split_once('(').ok_or("found ')', expected: '('")?;
            let values = values.split(',').map(|value| value.trim().to_owned()).collect();
            let mut words = head.split_whitespace();
            return match (words.next(), words.next(), words.next()) {
                (Some(key), Some("in"), None) => Self::new(key, Operator::In, values),
                (Some(key), Some("notin"), None) => Self::new(key, Operator::NotIn, values),
                _other => Err(format!("found '{}', expected: in, notin", head.trim())),
            };
        }
        for (sign, operator) in [
            ("!=", Operator::NotIn),
            ("==", Operator::In),
            ("=", Operator::In),
            (">", Operator::GreaterThan),
            ("<", Operator::LessThan),
        ] {
            if let Some((key, value)) = text.split_once(sign) {
                return Self::new(key.trim(), operator, vec![value.trim().to_owned()]);
            }
        }
        Self::new(text, Operator::Exists, Vec::new())
    }

    fn new(key: &str, operator: Operator, values: Vec<String>) -> Result<Self, String> {
        let key_sound = !key.is_empty() && key.len() <= 317 && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
        if !key_sound {
            return Err(format!("key: Invalid value: {key:?}: name part must consist of alphanumeric characters, '-', '_' or '.'"));
        }
        let sound = |value: &String| value.len() <= 63 && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if let Some(value) = values.iter().find(|value| !sound(value)) {
            return Err(format!(
                "values[0][{key}]: Invalid value: {value:?}: a valid label must consist of alphanumeric characters, '-', '_' or '.'"
            ));
        }
        let wants_number = matches!(operator, Operator::GreaterThan | Operator::LessThan);
        if wants_number && values.iter().any(|value| value.parse::<i64>().is_err()) {
            return Err(format!(
                "values[0]: Invalid value: {:?}: for 'Gt', 'Lt' operators, the value must be an integer",
                values.concat()
            ));
        }
        Ok(Self { key: key.to_owned(), operator, values })
    }

    fn matches(&self, value: Option<&str>) -> bool {
        let among = |value: &str| self.values.iter().any(|wanted| wanted == value);
        let number = |text: Option<&str>| text.and_then(|text| text.parse::<i64>().ok());
        let wanted = number(self.values.first().map(String::as_str));
        match self.operator {
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::In => value.is_some_and(among),
            Operator::NotIn => !value.is_some_and(among),
            Operator::GreaterThan => number(value).is_some() && number(value) > wanted,
            Operator::LessThan => number(value).is_some() && number(value) < wanted,
        }
    }
}

/// The position of the comma that ends the first requirement. Commas inside parentheses do not count.
fn end_of_requirement(text: &str) -> usize {
    let mut open = false;
    for (at, character) in text.char_indices() {
        match character {
            '(' => open = true,
            ')' => open = false,
            ',' if !open => return at,
            _ => {}
        }
    }
    text.len()
}
