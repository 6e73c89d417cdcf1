//! Tests of budgets: limits, and usages that exceed them.

use std::collections::BTreeMap;

use super::{Budget, Excess, Limited, Quantity, Usage};
use crate::finding_kind::FindingKind;

fn usage(total: &[(Quantity, u64)], pods: &[(Quantity, u64)]) -> Usage {
    let map = |pairs: &[(Quantity, u64)]| pairs.iter().copied().collect::<BTreeMap<_, _>>();
    Usage { total: map(total), resources: BTreeMap::from([("pods".to_owned(), map(pods))]), ..Usage::default() }
}

fn cost(resource: Option<&str>, allowed: u64, used: u64) -> Excess {
    Excess { limited: Limited::Cost { resource: resource.map(str::to_owned), quantity: Quantity::Lists }, allowed, used }
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
            vec![cost(None, 2, 3), cost(Some("pods"), 1, 3)],
        ),
        (r#"{"schema": "watchtap.budget/v1", "other_resources": {"lists": 0}}"#, vec![cost(Some("pods"), 0, 3)]),
        (r#"{"schema": "watchtap.budget/v1", "resources": {"pods": {"items": 5}}, "other_resources": {"lists": 0}}"#, vec![]),
    ] {
        assert_eq!(budget(text).exceeded_by(&usage), exceeded, "{text}");
    }
}

#[test]
fn findings_are_limited_by_kind() {
    let found = |kinds: &[(FindingKind, u64)]| Usage { findings: kinds.iter().copied().collect(), ..Usage::default() };
    let usage = found(&[(FindingKind::DeafWatch, 1), (FindingKind::Poller, 2)]);
    let over = |finding, allowed, used| Excess { limited: Limited::Findings { finding }, allowed, used };
    for (limits, exceeded) in [
        (r#""total": {"lists": 0}"#, vec![]),
        (r#""findings": {"deaf-watch": 1, "poller": 2, "relist-loop": 0}"#, vec![]),
        (r#""findings": {"deaf-watch": 0}"#, vec![over(FindingKind::DeafWatch, 0, 1)]),
        (r#""other_findings": 1"#, vec![over(FindingKind::Poller, 1, 2)]),
        (r#""findings": {"poller": 2}, "other_findings": 0"#, vec![over(FindingKind::DeafWatch, 0, 1)]),
    ] {
        let text = format!(r#"{{"schema": "watchtap.budget/v1", {limits}}}"#);
        assert_eq!(budget(&text).exceeded_by(&usage), exceeded, "{limits}");
    }
    let written = Budget::just_kept_by(&usage);
    assert_eq!(written.exceeded_by(&usage), []);
    let more = found(&[(FindingKind::Poller, 3), (FindingKind::HotLoop, 1)]);
    assert_eq!(written.exceeded_by(&more), [over(FindingKind::HotLoop, 0, 1), over(FindingKind::Poller, 2, 3)]);
}

#[test]
fn row_of_a_finding_names_its_kind() {
    let row = Excess { limited: Limited::Findings { finding: FindingKind::DeafWatch }, allowed: 0, used: 1 };
    assert_eq!(serde_json::to_string(&row).unwrap(), r#"{"finding":"deaf-watch","allowed":0,"used":1}"#);
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
    assert_eq!(made.exceeded_by(&elsewhere), [cost(Some("secrets"), 0, 1)]);
}

#[test]
fn unknown_budget_fields_are_refused_with_their_line() {
    for (text, said) in [
        ("{\"schema\": \"x\",\n \"totals\": {}}", "unknown field `totals`"),
        ("{\"schema\": \"x\",\n \"total\": {\"list\": 1}}", "unknown variant `list`, expected one of `lists`"),
        ("{\"schema\": \"x\",\n \"total\": {\"lists\": -1}}", "invalid value"),
        ("{\"schema\": \"x\",\n \"findings\": {\"deaf\": 0}}", "unknown variant `deaf`, expected one of `stuck-reflector`"),
    ] {
        let error = serde_json::from_str::<Budget>(text).unwrap_err();
        assert!(error.to_string().contains(said) && error.line() == 2, "{error}");
    }
}
