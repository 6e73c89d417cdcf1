//! Finds the metrics and labels in an expression of `PromQL`. It does not check the syntax; promtool does.

/// A name in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name<'a> {
    /// A metric with its matchers.
    Metric(&'a str, Vec<Matcher<'a>>),
    /// A label in a list, such as `by (client)`.
    Label(&'a str),
}

/// `label="value"`, or with another operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Matcher<'a> {
    pub(super) label: &'a str,
    pub(super) is_pattern: bool,
    pub(super) value: &'a str,
}

/// Words that a list of labels follows.
const BEFORE_LABELS: [&str; 6] = ["by", "without", "on", "ignoring", "group_left", "group_right"];
/// Words between operands.
const BETWEEN: [&str; 5] = ["and", "or", "unless", "offset", "bool"];

pub(super) fn names(expression: &str) -> Vec<Name<'_>> {
    let tokens = tokens(expression);
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let next = tokens.get(at + 1).copied().unwrap_or_default();
        at += 1;
        if !is_name(token) || BETWEEN.contains(token) {
            continue;
        }
        if BEFORE_LABELS.contains(token) {
            let list = tokens[at..].iter().take_while(|token| **token != ")");
            names.extend(list.filter(|token| is_name(token)).map(|token| Name::Label(token)));
            at += tokens[at..].iter().position(|token| *token == ")").unwrap_or_default();
        } else if next == "{" {
            let end = tokens[at..].iter().position(|token| *token == "}").map_or(tokens.len(), |length| at + length);
            names.push(Name::Metric(token, matchers(&tokens[at + 1..end])));
            at = end;
        } else if next != "(" && !BEFORE_LABELS.contains(&next) {
            names.push(Name::Metric(token, Vec::new()));
        }
    }
    names
}

fn matchers<'a>(tokens: &[&'a str]) -> Vec<Matcher<'a>> {
    let matcher = |tokens: &[&'a str]| match tokens {
        [label, operator, value] => {
            Some(Matcher { label, is_pattern: operator.contains('~'), value: value.trim_matches(['"', '\'', '`']) })
        }
        _ => None,
    };
    tokens.split(|token| *token == ",").filter_map(matcher).collect()
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_' || first == ':')
}

/// Names, strings, operators of matchers, and single characters. Durations, numbers and variables of Grafana are left out.
fn tokens(expression: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = expression.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':';
        let length = match first {
            '"' | '\'' | '`' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '[' => rest.find(']').map_or(rest.len(), |end| end + 1),
            '=' | '!' if rest[1..].starts_with(['=', '~']) => 2,
            '$' => 1 + rest[1..].find(|letter| !is_part(letter)).unwrap_or(rest.len() - 1),
            _ if is_part(first) => rest.find(|letter| !is_part(letter)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        if !(first.is_ascii_digit() || "#[$".contains(first)) {
            found.push(token);
        }
        rest = after.trim_start();
    }
    found
}

#[test]
fn metrics_and_labels_are_found() {
    let found = names(
        "# comment\nsum by (client, le) (rate(a_total{verb=\"LIST\", code!~\"5..|other\"}[5m])) / on () group_left (up) max(b:c:sum offset 1h) \
         and time() - (d > 5e6) or vector(0)",
    );
    let verb = Matcher { label: "verb", is_pattern: false, value: "LIST" };
    let code = Matcher { label: "code", is_pattern: true, value: "5..|other" };
    let expected = [
        Name::Label("client"),
        Name::Label("le"),
        Name::Metric("a_total", vec![verb, code]),
        Name::Label("up"),
        Name::Metric("b:c:sum", Vec::new()),
        Name::Metric("d", Vec::new()),
    ];
    assert_eq!(found, expected);
}

#[test]
fn variables_and_lists_after_an_operand_are_no_metrics() {
    assert_eq!(names("sum(a) without (b)"), [Name::Metric("a", Vec::new()), Name::Label("b")]);
    let found = names("increase(a{job=~\"$job\"}[$__rate_interval] offset $__range)");
    assert_eq!(found, [Name::Metric("a", vec![Matcher { label: "job", is_pattern: true, value: "$job" }])]);
}
