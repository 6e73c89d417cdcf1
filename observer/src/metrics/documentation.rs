//! `docs/metrics.md`, made from the tables of names. Run the tests with `UPDATE_EXPECT=1` to write it. `cargo xtask test --panels` writes
//! its last section, which this test leaves as it is.

use std::fmt::Write as _;
use std::fs;

use expect_test::expect_file;
use observer_core::series::{FAMILIES, Family, Kind, LABELS, Label, LabelRow, SeriesLimits, Values};

use super::exposition::{Bounds, Seconds};
use super::webhook_families;
use crate::memory_budget::METRICS_CONNECTIONS;

const INTRODUCTION: &str = include_str!("introduction.md");
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/metrics.md");
/// The heading of the last section.
const PANELS: &str = "\n## Panels of the boards\n";

/// The values of labels whose values depend on the traffic.
fn first_come(limits: &SeriesLimits) -> [(Label, String); 8] {
    [
        (
            Label::Client,
            format!(
                "the program, which is the first product of the `User-Agent` without its version (behind a sidecar `CONTAINER:PROGRAM`), and `NAMESPACE/NAME` of the \
                 ServiceAccount in the token; the first {} pairs",
                limits.clients
            ),
        ),
        (
            Label::Resource,
            format!("API group and resource, both empty for a path that is not a resource; the first {} pairs", limits.resources),
        ),
        (Label::Subresource, format!("such as `status`; empty for the object itself; the first {}", limits.subresources)),
        (Label::Code, format!("the HTTP status; empty if it is unknown; the first {}", limits.codes)),
        (Label::Upstream, format!("the name of an API server; the first {}", limits.upstreams)),
        (Label::ServerVersion, "the version of an API server; empty if it is unknown; the first 64".to_owned()),
        (Label::Version, "the version of watchtap".to_owned()),
        (Label::Revision, "the revision of its sources; empty if it is unknown".to_owned()),
    ]
}

#[test]
fn documentation_has_every_family_and_label() {
    let limits = SeriesLimits::default();
    let mut text = INTRODUCTION.to_owned();
    text.push_str(
        "## Names\n\nThe metrics `process_*` exist on Linux only.\n\n| Name | Kind | Labels | Meaning |\n|---|---|---|---|\n",
    );
    for row in FAMILIES {
        let labels: Vec<&str> = row.labels.iter().flat_map(|label| names(*label)).copied().collect();
        family(&mut text, row.name, row.kind, &labels, row.help);
    }
    text.push_str(
        "\n## Labels\n\nMetrics of the API server have the same names and values for `verb`, `group`, `resource`, \
                   `subresource`, `scope` and `code`.\n\n| Label | Values |\n|---|---|\n",
    );
    for row in LABELS {
        writeln!(text, "| {}{} | {} |", code(row.names), of_families(row), values(row, &limits)).unwrap();
    }
    webhook(&mut text);
    let Bounds { series, bytes } = Bounds::OF_A_PAGE;
    write!(
        text,
        "\n## Bounds\n\n| Bound | Value | Beyond it |\n|---|---|---|\n\
         | values of a label | see above | later values are counted with the value `other` |\n\
         | label sets of one metric | {} | later ones are counted with `other` for every label |\n\
         | page | {series} samples, {} MiB | a metric that has no room is left out completely, and `watchtap_families_left_out` counts it |\n\
         | connections | {METRICS_CONNECTIONS} | the oldest one is closed, at most one in 5 ms |\n\
         | head of a request | 16 KiB, 64 fields, 5 s | 431, or the connection is closed |\n\
         | connection | one request, 30 s | it is closed |\n",
        limits.sets,
        bytes >> 20
    )
    .unwrap();
    let written = fs::read_to_string(DOCUMENT).unwrap();
    let (_, panels) = written.split_once(PANELS).expect("`cargo xtask test --panels` writes this section");
    text.push_str(PANELS);
    text.push_str(panels);
    expect_file![DOCUMENT].assert_eq(&text);
}

/// The families of the webhook, which are not among those of the traffic.
fn webhook(text: &mut String) {
    text.push_str(
        "\n## Webhook\n\n`watchtap webhook --metrics ADDRESS:PORT` ([webhook.md](webhook.md)) has these metrics, \
         `watchtap_build_info` with `tap=\"webhook\"`, and `process_*`.\n\n| Name | Kind | Labels | Meaning |\n|---|---|---|---|\n",
    );
    for (head, labels) in webhook_families::ALL {
        let labels: Vec<String> = labels.iter().map(|(name, values)| format!("{name}: {values}")).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        family(text, head.name, head.kind, &labels, head.help);
    }
}

fn family(text: &mut String, name: &str, kind: Kind, labels: &[&str], help: &str) {
    let kind = match kind {
        Kind::Counter => "counter".to_owned(),
        Kind::Gauge => "gauge".to_owned(),
        Kind::Histogram { bounds } => {
            let bounds: Vec<String> = bounds.iter().map(|micros| Seconds(*micros).to_string()).collect();
            format!("histogram: {}", bounds.join(" "))
        }
    };
    writeln!(text, "| `{name}` | {kind} | {} | {help} |", code(labels)).unwrap();
}

fn names(label: Label) -> &'static [&'static str] {
    LABELS.get(label as usize).unwrap().names
}

/// The metrics with a label, if others have another label of this name.
fn of_families(row: &LabelRow) -> String {
    if LABELS.iter().filter(|other| other.names == row.names).count() == 1 {
        return String::new();
    }
    let with_it = FAMILIES.iter().filter(|family| family.labels.contains(&row.label)).map(|family| family.name);
    format!(" of {}", code(&with_it.collect::<Vec<_>>()))
}

fn values(row: &LabelRow, limits: &SeriesLimits) -> String {
    match row.values {
        Values::FirstCome => {
            let described = first_come(limits).into_iter().find(|(label, _)| *label == row.label);
            described.unwrap_or_else(|| panic!("describe {:?} in first_come", row.label)).1
        }
        Values::Rules => "the rules of [semantics.md](semantics.md)".to_owned(),
        Values::Words(words) if words.len() == Family::NAMES.len() => "the name of a metric".to_owned(),
        Values::Words(words) => {
            let named: Vec<&str> = words.iter().copied().filter(|word| !word.is_empty()).collect();
            let empty = if named.len() < words.len() { "empty, or " } else { "" };
            format!("{empty}`{}`", named.join(", "))
        }
    }
}

fn code(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" ")
}
