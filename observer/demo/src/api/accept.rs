//! Parses the `Accept` field, to the extent that a server with only JSON answers needs.
//!
//! kube-apiserver parses it with goautoneg: it sorts clauses by descending `q`, keeps the order of equal ones, and the first one
//! that can be served wins. Parameters not mentioned here do not disqualify a clause.

/// Maximum number of clauses read from one field; clients send three or four.
const MAX_CLAUSES: usize = 64;

/// One clause: a media type with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clause<'a> {
    media_type: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl Clause<'_> {
    /// Whether it accepts a JSON answer.
    pub(super) fn takes_json(&self) -> bool {
        matches!(self.media_type, "application/json" | "application/*" | "*/*")
    }

    /// The kind to convert the answer to: `as`, with its group and version; `None` for the resource's own kind.
    pub(super) fn target(&self) -> Option<(&str, &str, &str)> {
        let kind = self.parameter("as")?;
        Some((self.parameter("g").unwrap_or_default(), self.parameter("v").unwrap_or_default(), kind))
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(found, _)| *found == name).map(|(_, value)| *value)
    }
}

/// The clauses in the client's order of preference. An absent or empty field accepts anything.
pub(super) fn clauses(accept: &str) -> Vec<Clause<'_>> {
    if accept.trim().is_empty() {
        return vec![Clause { media_type: "*/*", parameters: Vec::new() }];
    }
    let mut clauses: Vec<(u16, Clause<'_>)> = accept.split(',').take(MAX_CLAUSES).filter_map(clause).collect();
    clauses.sort_by_key(|(thousandths, _)| std::cmp::Reverse(*thousandths));
    clauses.into_iter().filter(|(thousandths, _)| *thousandths > 0).map(|(_, clause)| clause).collect()
}

/// A clause with its weight in thousandths.
fn clause(text: &str) -> Option<(u16, Clause<'_>)> {
    let mut parts = text.split(';').map(str::trim);
    let media_type = parts.next().filter(|media_type| media_type.contains('/'))?;
    let (mut weight, mut parameters) = (1000, Vec::new());
    for (name, value) in parts.filter_map(|part| part.split_once('=')) {
        match (name.trim(), value.trim().trim_matches('"')) {
            ("q", value) => weight = thousandths(value),
            (name, value) => parameters.push((name, value)),
        }
    }
    Some((weight, Clause { media_type, parameters }))
}

fn thousandths(weight: &str) -> u16 {
    let weight: f32 = weight.parse().unwrap_or(1.0);
    // Values outside 0 to 1 are clamped, and text that is not a number becomes 0.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value is between 0 and 1000")]
    let thousandths = (weight.clamp(0.0, 1.0) * 1000.0) as u16;
    thousandths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accept_clauses_are_sorted_by_weight_then_position() {
        let accept = "application/yaml;q=0.5, application/json;g=meta.k8s.io;v=v1;as=Table, */*;q=0.5, text/html;q=0";
        let clauses = clauses(accept);
        let types: Vec<_> = clauses.iter().map(|clause| clause.media_type).collect();
        assert_eq!(types, ["application/json", "application/yaml", "*/*"]);
        assert_eq!(clauses[0].target(), Some(("meta.k8s.io", "v1", "Table")));
        assert_eq!(clauses[1].target(), None);
    }

    #[test]
    fn empty_accept_header_accepts_json() {
        assert!(clauses(" ").iter().all(Clause::takes_json));
        assert_eq!(clauses("nonsense,;;,=").len(), 0);
    }

    #[test]
    fn malformed_weights_do_not_panic() {
        for weight in ["NaN", "inf", "-1", "1e40", "x", ""] {
            assert!(clauses(&format!("application/json;q={weight}")).len() <= 1, "{weight}");
        }
    }

    #[test]
    fn long_accept_header_is_truncated() {
        assert_eq!(clauses(&"a/b,".repeat(100_000)).len(), MAX_CLAUSES);
    }
}
