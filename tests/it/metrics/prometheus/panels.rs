//! The queries of the boards in `deploy/chart/files/grafana`, against a Prometheus that scraped the demo. No Grafana draws them.

use std::fs;
use std::path::Path;

use observer_tests::prometheus::{Labels, Series};
use observer_tests::{Prometheus, panels_folder};
use serde_json::{Value, json};

/// The clients for the board of one client: a stuck reflector, a slow reader, one that lists from etcd, one that relists, one that starts
/// late, and one that only writes.
const CLIENTS: [&str; 6] = ["node-tuner", "archive-tail", "alert-mailer", "old-ingress", "mesh-operator", "archiver"];
/// Grafana takes four scrape intervals, unless the panel's step is longer. Prometheus scrapes each second here, and the step is one second.
const RATE_INTERVAL: &str = "4s";
/// Number of series of a query in docs/metrics.md.
const LISTED: usize = 3;

/// The result of a query without a number above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Returns {
    Nothing,
    Zeros,
    /// Zeros, or more on a busy machine.
    ZerosOrMore,
}

/// The queries that the demo leaves without data or with zeros only: board, panel, query, and the reason.
const LACKING: [(&str, &str, &str, Returns, &str); 12] = [
    ("watchtap", "Joined storms", "A", Returns::Zeros, "a single process joins no storms"),
    ("watchtap", "Not observed", "A", Returns::Zeros, "watchtap observes everything in the demo"),
    ("watchtap", "Own writes", "A", Returns::Nothing, "no client of the demo watches what it writes"),
    ("watchtap", "Losses", "A", Returns::Zeros, "watchtap observes everything in the demo"),
    ("watchtap", "Losses", "B", Returns::Nothing, "it has losses only, of which there are none"),
    ("watchtap", "Losses", "C", Returns::Nothing, "it has losses only, and the demo has no probe"),
    ("watchtap", "Observing", "A", Returns::ZerosOrMore, "decoding keeps up, unless the machine is busy"),
    ("watchtap", "Observing", "B", Returns::Zeros, "watchtap observes everything in the demo"),
    ("watchtap", "Label sets without room", "A", Returns::Zeros, "the demo has few clients"),
    ("watchtap", "Label sets without room", "B", Returns::Nothing, "it has label sets without room only"),
    ("watchtap-client", "Own writes", "A", Returns::Nothing, "no client of the demo watches what it writes"),
    ("watchtap-client", "Own writes", "B", Returns::Nothing, "no client of the demo watches what it writes"),
];

/// A query of a panel, and what it returned.
#[derive(Debug)]
pub(super) struct Shown {
    board: String,
    panel: String,
    /// Its letter.
    query: String,
    unit: String,
    /// The highest number of each series, after its legend.
    highest: Vec<(String, f64)>,
}

/// Runs each query of the boards as Grafana does for a range: charts for all of it, tables for its end.
#[track_caller]
pub(super) fn shown(prometheus: &Prometheus, from: f64, to: f64) -> Vec<Shown> {
    let mut shown = Vec::new();
    for file in ["watchtap.json", "watchtap-client.json"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/chart/files/grafana").join(file);
        let board: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let clients = clients_of(&board, prometheus, from, to);
        for panel in board["panels"].as_array().unwrap().iter().filter(|panel| panel["type"] != "row") {
            for target in panel["targets"].as_array().unwrap() {
                let mut highest = Vec::new();
                for client in &clients {
                    let query = inserted(text(&target["expr"]), client);
                    let series = if target["instant"] == true {
                        prometheus.query(&query, to).unwrap()
                    } else {
                        prometheus.query_each_second(&query, from, to).unwrap()
                    };
                    let owner = if clients.len() > 1 { format!("{client} ") } else { String::new() };
                    highest.extend(series.iter().filter_map(|one| {
                        Some((owner.clone() + &legend(text(&target["legendFormat"]), &one.labels), highest_of(one)?))
                    }));
                }
                highest.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
                shown.push(Shown {
                    board: text(&board["uid"]).to_owned(),
                    panel: text(&panel["title"]).to_owned(),
                    query: text(&target["refId"]).to_owned(),
                    unit: text(&panel["fieldConfig"]["defaults"]["unit"]).to_owned(),
                    highest,
                });
            }
        }
    }
    shown
}

/// Compares what the queries returned with what the demo has. It may lack only what [`LACKING`] names, and must lack that.
#[track_caller]
pub(super) fn are_as_expected(shown: &[Shown]) {
    let has = |one: &Shown| one.highest.iter().any(|(_, number)| *number > 0.0);
    let mut wrong = Vec::new();
    for one in shown {
        let Shown { board, panel, query, highest, .. } = one;
        let is_right = match lacking(one).map(|(returns, _)| returns) {
            None => has(one),
            Some(Returns::Nothing) => highest.is_empty(),
            Some(Returns::Zeros) => !highest.is_empty() && !has(one),
            Some(Returns::ZerosOrMore) => !highest.is_empty(),
        };
        if !is_right {
            wrong.push(format!("{board}, {panel}, {query}: {highest:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(
        shown.iter().filter(|one| lacking(one).is_some()).count(),
        LACKING.len(),
        "LACKING names a query that does not exist"
    );
    assert!(shown.len() > 70, "{} queries are found", shown.len());
}

/// Writes the values for the table in docs/metrics.md, which `cargo xtask test --panels` makes.
pub(super) fn keep(shown: &[Shown]) {
    let rows: Vec<Value> =
        shown.iter().map(|one| json!({ "board": one.board, "panel": one.panel, "values": in_words(one) })).collect();
    fs::create_dir_all(panels_folder()).unwrap();
    fs::write(panels_folder().join("panels.json"), json!({ "rows": rows }).to_string()).unwrap();
}

/// The values of the variable `client`: `.*` for all clients, unless the board shows one.
#[track_caller]
fn clients_of(board: &Value, prometheus: &Prometheus, from: f64, to: f64) -> Vec<&'static str> {
    let variable = board["templating"]["list"].as_array().unwrap().iter().find(|variable| variable["name"] == "client").unwrap();
    if variable["includeAll"] == true {
        assert_eq!(variable["allValue"], ".*");
        return vec![".*"];
    }
    let definition = text(&variable["definition"]).strip_prefix("label_values(").unwrap().strip_suffix(", client)").unwrap();
    let offered = prometheus.labels_of(&inserted(definition, ""), from, to).unwrap();
    for client in CLIENTS {
        assert!(
            offered.iter().any(|labels| labels.get("client").is_some_and(|offered| offered == client)),
            "{client} of {offered:?}"
        );
    }
    CLIENTS.to_vec()
}

/// Inserts the variables as Grafana does.
#[track_caller]
fn inserted(query: &str, client: &str) -> String {
    let variables = [("$__rate_interval", RATE_INTERVAL), ("$cluster", ".*"), ("$job", ".*"), ("$client", client)];
    let query = variables.iter().fold(query.to_owned(), |query, (name, value)| query.replace(name, value));
    assert!(!query.contains('$'), "{query}");
    query
}

/// Inserts labels for `{{label}}`, as Grafana does.
fn legend(template: &str, labels: &Labels) -> String {
    let mut parts = template.split("{{");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (label, rest) = part.split_once("}}").unwrap();
        text.push_str(labels.get(label).map_or("", String::as_str));
        text.push_str(rest);
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The highest number of a series; `None` if it has none, such as the quotient of zeros.
fn highest_of(series: &Series) -> Option<f64> {
    series.points.iter().map(|(_, number)| *number).filter(|number| number.is_finite()).max_by(f64::total_cmp)
}

fn lacking(shown: &Shown) -> Option<(Returns, &'static str)> {
    let of_it = |(board, panel, query, ..): &&(&str, &str, &str, Returns, &str)| {
        (shown.board.as_str(), shown.panel.as_str(), shown.query.as_str()) == (*board, *panel, *query)
    };
    LACKING.iter().find(of_it).map(|(.., returns, reason)| (*returns, *reason))
}

/// The highest series, or the reason why there is none.
fn in_words(shown: &Shown) -> String {
    if let Some((returns, reason)) = lacking(shown) {
        return match returns {
            Returns::Nothing => format!("no series: {reason}"),
            Returns::Zeros | Returns::ZerosOrMore => format!("0: {reason}"),
        };
    }
    let above_zero = || shown.highest.iter().filter(|(_, number)| *number > 0.0);
    let listed = above_zero().take(LISTED).map(|(legend, number)| format!("{legend} **{}**", with_unit(*number, &shown.unit)));
    let more = above_zero().count().saturating_sub(LISTED);
    let more = (more > 0).then(|| format!("{more} more"));
    listed.chain(more).collect::<Vec<_>>().join(" · ")
}

/// A number as a panel with this unit shows it.
#[track_caller]
fn with_unit(number: f64, unit: &str) -> String {
    match unit {
        "short" => rounded(number),
        "s" => format!("{} s", rounded(number)),
        "percentunit" => format!("{} %", rounded(number * 100.0)),
        "bytes" => in_bytes(number),
        "Bps" => format!("{}/s", in_bytes(number)),
        "ops" | "reqps" => format!("{}/s", rounded(number)),
        other => panic!("write numbers in {other}"),
    }
}

fn in_bytes(number: f64) -> String {
    let units = [(1e6, "MB"), (1e3, "kB")];
    let (of, unit) = units.into_iter().find(|(of, _)| number >= *of).unwrap_or((1.0, "B"));
    format!("{} {unit}", rounded(number / of))
}

/// Three digits of small numbers, and no fraction of large ones.
fn rounded(number: f64) -> String {
    let places = if number < 1.0 { 3 } else { usize::from(number < 100.0) };
    let text = format!("{number:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
