//! Tests of budgets: limits, and usages that exceed them.

use std::collections::BTreeMap;

use super::{Budget, Excess, Quantity, Usage};

fn usage(total: &[(Quantity, u64)], pods: &[(Quantity, u64)]) -> Usage {
    let map = |pairs: &[(Quantity, u64)]| pairs.iter().copied().collect::<BTreeMap<_, _>>();
    Usage { total: map(total), resources: BTreeMap::from([("pods".to_owned(), map(pods))]), at_least: false }
}

fn budget(text: &str) -> Budget {
    serde_json::from_str(text).unwrap()
}

#[test]
fn only_usage_above_its_limit_is_reported() {
    let usage = usage(&[(Quantity::Lists, 3), (Quantity::Bytes, 1_000_000)], &[(Quantity::Lists, 3)]);
    for (text, exceeded) in [
        (r#"{"schema": "watchtap.budget/v1"}"#, vec![]),
        (r#"{"schema": "watchtap.budget/v1", "total": {"lists": 3, "relists": 0}}"#, vec![]),
        (
            r#"{"schema": "watchtap.budget/v1", "total": {"lists": 2}, "resources": {"pods": {"lists": 1}, "secrets": {"lists": 0}}}"#,
            vec![
                Excess { resource: None, quantity: Quantity::Lists, allowed: 2, used: 3 },
                Excess { resource: Some("pods".to_owned()), quantity: Quantity::Lists, allowed: 1, used: 3 },
            ],
        ),
        (
            r#"{"schema": "watchtap.budget/v1", "other_resources": {"lists": 0}}"#,
            vec![Excess { resource: Some("pods".to_owned()), quantity: Quantity::Lists, allowed: 0, used: 3 }],
        ),
        (r#"{"schema": "watchtap.budget/v1", "resources": {"pods": {"items": 5}}, "other_resources": {"lists": 0}}"#, vec![]),
    ] {
        assert_eq!(budget(text).exceeded_by(&usage), exceeded, "{text}");
    }
}

#[test]
fn budget_from_a_run_refuses_one_more_list() {
    let same = usage(&[(Quantity::Lists, 2), (Quantity::Bytes, 11)], &[(Quantity::Lists, 2), (Quantity::Bytes, 11)]);
    let made = Budget::just_kept_by(&same);
    assert_eq!(made.total[&Quantity::Bytes], 13, "a tenth on top");
    let text = serde_json::to_string(&made).unwrap();
    assert_eq!(budget(&text).exceeded_by(&same), []);
    let more = usage(&[(Quantity::Lists, 3)], &[(Quantity::Lists, 3)]);
    assert_eq!(made.exceeded_by(&more).len(), 2);
    let mut elsewhere = same;
    elsewhere.resources.insert("secrets".to_owned(), BTreeMap::from([(Quantity::Lists, 1)]));
    assert_eq!(made.exceeded_by(&elsewhere)[0].resource.as_deref(), Some("secrets"));
}

#[test]
fn unknown_budget_fields_are_refused_with_their_line() {
    for (text, said) in [
        ("{\"schema\": \"x\",\n \"totals\": {}}", "unknown field `totals`"),
        ("{\"schema\": \"x\",\n \"total\": {\"list\": 1}}", "unknown variant `list`, expected one of `lists`"),
        ("{\"schema\": \"x\",\n \"total\": {\"lists\": -1}}", "invalid value"),
    ] {
        let error = serde_json::from_str::<Budget>(text).unwrap_err();
        assert!(error.to_string().contains(said) && error.line() == 2, "{error}");
    }
}
