//! Rule: boards keep the conventions of Grafana's dashboard-linter, which is not available here, and their queries name what exists.

use serde_json::Value;

use super::names::{BOARDS, Known, example};
use crate::tidy::tree::{SourceFile, Tree};
use crate::tidy::violation::{Violation, assert_found, assert_none};

/// The variables of each board, in their order.
const VARIABLES: [&str; 4] = ["datasource", "cluster", "job", "client"];
/// The board whose variable `client` has one value, because it shows one client.
const ONE_CLIENT: &str = "watchtap-client";
const TAG: &str = "watchtap";
/// Functions over a range. Their range is that of the panel, so that a wide panel leaves out no sample.
const OVER_RANGES: [&str; 3] = ["rate(", "increase(", "irate("];
const RANGE: &str = "[$__rate_interval]";

fn violations(file: &SourceFile, known: &Known) -> Vec<Violation> {
    let board: Value = match serde_json::from_str(&file.text) {
        Ok(board) => board,
        Err(error) => return vec![Violation::at(file, error.line(), error.to_string())],
    };
    let mut wrong = wrong_head(&board);
    wrong.extend(wrong_variables(&board, known));
    let mut ids: Vec<&Value> = Vec::new();
    for panel in items(&board["panels"]) {
        let title = text(&panel["title"]);
        let mut of_panel = wrong_panel(panel, known);
        if ids.contains(&&panel["id"]) {
            of_panel.push("has the id of another panel".to_owned());
        }
        ids.push(&panel["id"]);
        wrong.extend(of_panel.into_iter().map(|what| format!("panel \"{title}\" {what}")));
    }
    wrong.into_iter().map(|what| Violation::of(file, what)).collect()
}

fn wrong_head(board: &Value) -> Vec<String> {
    let uid = text(&board["uid"]);
    let conventions = [
        (uid.starts_with(TAG), "`uid` is fixed and begins with watchtap"),
        (board["editable"] == false, "`editable` is false"),
        (board["refresh"] == "30s", "`refresh` is 30s"),
        (board["timezone"] == "browser", "`timezone` is browser"),
        (items(&board["tags"]).iter().any(|tag| tag == TAG), "`tags` contain watchtap"),
        (!text(&board["description"]).is_empty(), "`description` is not empty"),
        (board["id"].is_null(), "`id` is left out, because each Grafana issues its own"),
    ];
    broken(&conventions)
}

fn wrong_variables(board: &Value, known: &Known) -> Vec<String> {
    let variables = items(&board["templating"]["list"]);
    let names: Vec<&str> = variables.iter().map(|variable| text(&variable["name"])).collect();
    let mut wrong = Vec::new();
    if names != VARIABLES {
        wrong.push(format!("the variables are {}", VARIABLES.join(", ")));
    }
    for variable in variables {
        let name = text(&variable["name"]);
        if name == "datasource" {
            continue;
        }
        let is_single = board["uid"] == ONE_CLIENT && name == "client";
        let has_all = variable["multi"] == true && variable["includeAll"] == true && variable["allValue"] == ".*";
        if has_all == is_single {
            wrong.push(format!("variable {name} has several values and All (`.*`), unless the board shows one client"));
        }
        let query = text(&variable["definition"]);
        let parts = query.strip_prefix("label_values(").and_then(|query| query.strip_suffix(')')?.rsplit_once(", "));
        match parts {
            Some((metric, label)) if known.is_label(label) => wrong.extend(known.wrong(metric)),
            _ => wrong.push(format!("variable {name} has no query `label_values(METRIC, LABEL)`")),
        }
    }
    wrong
}

fn wrong_panel(panel: &Value, known: &Known) -> Vec<String> {
    if panel["type"] == "row" {
        return Vec::new();
    }
    let targets = items(&panel["targets"]);
    let is_chart = panel["type"] == "timeseries";
    let uses_variable = |of: &Value| of["datasource"]["uid"] == "${datasource}";
    let mut wrong = broken(&[
        (!text(&panel["title"]).is_empty(), "has a title"),
        (text(&panel["description"]).ends_with('.'), "has a description"),
        (!text(&panel["fieldConfig"]["defaults"]["unit"]).is_empty(), "has a unit"),
        (!is_chart || panel["options"]["legend"]["showLegend"] == true, "shows a legend"),
        (uses_variable(panel) && targets.iter().all(uses_variable), "uses ${datasource}"),
        (!targets.is_empty(), "has a query"),
        (targets.iter().all(|target| !text(&target["legendFormat"]).is_empty()), "has a legend for each query"),
    ]);
    for target in targets {
        let query = text(&target["expr"]);
        wrong.extend(known.wrong(query).into_iter().map(|what| format!("is wrong: {what}")));
        let filters = ["cluster=~\"$cluster\"", "job=~\"$job\""];
        if !filters.iter().all(|filter| query.contains(filter)) {
            wrong.push(format!("has a query without {}", filters.join(", ")));
        }
        let over_ranges: usize = OVER_RANGES.iter().map(|function| called(query, function)).sum();
        if over_ranges != query.matches(RANGE).count() || over_ranges != query.matches('[').count() {
            wrong.push(format!("has a rate over another range than {RANGE}"));
        }
    }
    wrong
}

/// How often `query` calls a function, given as `name(`. Longer names that end like it do not count.
fn called(query: &str, function: &str) -> usize {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    query.match_indices(function).filter(|(at, _)| !query[..*at].ends_with(is_part)).count()
}

/// The sentences of conventions that do not hold.
fn broken(conventions: &[(bool, &str)]) -> Vec<String> {
    conventions.iter().filter(|(holds, _)| !holds).map(|(_, sentence)| format!("breaks: {sentence}")).collect()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[test]
fn boards_keep_the_conventions() {
    let tree = Tree::read();
    let known = Known::read(&tree);
    let boards: Vec<&SourceFile> = tree.files().iter().filter(|file| file.path.starts_with(BOARDS)).collect();
    assert_eq!(boards.len(), 2, "{BOARDS} has other boards: change this number");
    let violations: Vec<Violation> = boards.into_iter().flat_map(|file| violations(file, &known)).collect();
    assert_none(&violations, "change the board; xtask/src/tidy/metrics/boards.rs has the conventions");
}

#[test]
fn broken_conventions_are_caught() {
    let variable = |name: &str| {
        format!(
            "{{\"name\":\"{name}\",\"multi\":true,\"includeAll\":true,\"allValue\":\".*\",\"definition\":\"label_values(watchtap_a_total, {name})\"}}"
        )
    };
    let source = "\"datasource\":{\"uid\":\"${datasource}\"}";
    let query = "rate(watchtap_a_total{cluster=~\\\"$cluster\\\", job=~\\\"$job\\\"}[$__rate_interval])";
    let panel = format!(
        "{{\"id\":1,\"type\":\"stat\",\"title\":\"T\",\"description\":\"D.\",{source},\"fieldConfig\":{{\"defaults\":{{\"unit\":\"short\"}}}},\
         \"targets\":[{{{source},\"expr\":\"{query}\",\"legendFormat\":\"l\"}}]}}"
    );
    let variables = ["cluster", "job", "kind"].map(variable).join(",").replace("kind\",\"multi", "client\",\"multi");
    let board = format!(
        "{{\"uid\":\"watchtap\",\"editable\":false,\"refresh\":\"30s\",\"timezone\":\"browser\",\"tags\":[\"watchtap\"],\"description\":\"D.\",\
         \"templating\":{{\"list\":[{{\"name\":\"datasource\"}},{variables}]}},\"panels\":[{panel}]}}"
    );
    let found = |from: &str, to: &str| {
        assert!(board.contains(from), "{from} is not in {board}");
        violations(&SourceFile::new("a.json", &board.replacen(from, to, 1)), &example())
    };
    assert_found(&found("D.", "D."), &[]);
    assert_found(&found("\"editable\":false", "\"editable\":true"), &["breaks: `editable` is false"]);
    assert_found(
        &found("\"refresh\":\"30s\"", "\"id\":7"),
        &["breaks: `refresh` is 30s", "breaks: `id` is left out, because each Grafana issues its own"],
    );
    assert_found(&found("\"name\":\"job\"", "\"name\":\"jobs\""), &["the variables are datasource, cluster, job, client"]);
    assert_found(&found("\"unit\":\"short\"", "\"unit\":\"\""), &["panel \"T\" breaks: has a unit"]);
    assert_found(&found("$__rate_interval", "5m"), &["panel \"T\" has a rate over another range than [$__rate_interval]"]);
    assert_found(
        &found("rate(watchtap_a_total{cluster", "rate(watchtap_c_total{cluster"),
        &["panel \"T\" is wrong: there is no metric `watchtap_c_total`"],
    );
    assert_found(&found("job=~\\\"$job\\\"", ""), &["panel \"T\" has a query without cluster=~\"$cluster\", job=~\"$job\""]);
    let all = "variable cluster has several values and All (`.*`), unless the board shows one client";
    assert_found(&found("\"multi\":true", "\"multi\":false"), &[all]);
}
