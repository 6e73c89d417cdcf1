//! Compares the tap's verdict on a row with the measurement.

use observer_core::routing::{CacheState, Fallback, Layer, ServedFrom, ServerProfile, UnknownReason};
use serde_json::{Value, json};

use super::asked::{Asked, Remark};
use super::measured::Measured;
use super::resource::GROUP;
use super::rules;

/// The result of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Agreed,
    /// The measurement is the alternative that the verdict names.
    AgreedBySecond,
    /// The layer cannot be determined from facts that are visible to a proxy, and the verdict allows the measured layer.
    NotDecidable(String),
    NotProvoked(String),
    Disagreed(String),
}

/// A row with measurement and verdict.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) asked: Asked,
    pub(super) outcome: Outcome,
    /// The predicted layer, as text.
    predicted: String,
    rule: String,
    certainty: String,
}

/// The start of the verdict's note about a snapshot that may have been dropped although its revision is recent.
const SNAPSHOT_LOST: &str = "etcd answers instead if this resource was not written since";

/// Judges one row by the tap's events and by the tap's server profile.
pub(super) fn judge(asked: Asked, events: &[Value], profile: &ServerProfile) -> Judged {
    let ended = |event: &&Value| event["event"] == "request" || event["event"] == "watch-ended";
    let event = events.iter().filter(ended).find(|event| event["client"]["program"] == asked.agent.as_str());
    let verdict = event.map_or(&Value::Null, |event| &event["verdict"]);
    let text = |field: &str| verdict[field].as_str().unwrap_or_default().to_owned();
    let outcome = outcome(&asked, verdict, profile);
    let predicted = served_from(verdict).map_or_else(|| "no verdict".to_owned(), |served| served.to_string());
    Judged { outcome, predicted, rule: text("rule"), certainty: text("certainty").to_lowercase(), asked }
}

fn outcome(asked: &Asked, verdict: &Value, profile: &ServerProfile) -> Outcome {
    let not_provoked = asked.remarks.iter().find_map(|remark| match remark {
        Remark::NotProvoked(reason) => Some(reason.clone()),
        Remark::CacheNotReady | Remark::Unseen => None,
    });
    if let Some(reason) = not_provoked {
        return Outcome::NotProvoked(reason);
    }
    let Some(measured) = asked.measured else { return disagreed("the counters moved as no layer moves them") };
    let Some(served) = served_from(verdict) else { return disagreed("the tap has no verdict") };
    if verdict["certainty"].as_str().is_some_and(|certainty| certainty.eq_ignore_ascii_case("contradicted")) {
        return disagreed(&format!("the answer contradicted the verdict: {}", verdict["predicted"]));
    }
    if rules::is_first(&served, measured) {
        return Outcome::Agreed;
    }
    let second: Option<Fallback> = serde_json::from_value(verdict["otherwise"]["then"].clone()).ok();
    if second.is_some_and(|then| rules::is_second(then, measured)) {
        return Outcome::AgreedBySecond;
    }
    undecidable(asked, verdict, &served, measured, profile)
        .map_or_else(|| disagreed("another layer answered"), Outcome::NotDecidable)
}

/// The reason why the layer cannot be determined from facts visible to a proxy, or `None` if it can.
fn undecidable(asked: &Asked, verdict: &Value, served: &ServedFrom, measured: Measured, profile: &ServerProfile) -> Option<String> {
    // If the answer confirmed or contradicted the verdict, the verdict must be right.
    let predicted = verdict["certainty"].as_str().is_some_and(|certainty| certainty.eq_ignore_ascii_case("predicted"));
    if predicted && asked.remarks.contains(&Remark::CacheNotReady) {
        let known = rules::verdict(profile, CacheState::NotReady, asked.method, &asked.path);
        let reason = "the answer does not show that the watch cache was not ready; with that known the rules say what was measured";
        return rules::covers(&known, measured).then(|| reason.to_owned());
    }
    let lost =
        verdict["notes"].as_array().into_iter().flatten().filter_map(Value::as_str).any(|note| note.starts_with(SNAPSHOT_LOST));
    if lost && measured == Measured::Etcd {
        return Some(
            "nothing shows that the resource was not written since etcd's last compaction; the verdict has a note of it".to_owned(),
        );
    }
    let ServedFrom::Unknown { reason, remaining } = served else { return None };
    let why = match reason {
        UnknownReason::SnapshotUnknown if asked.remarks.contains(&Remark::Unseen) => {
            "the tap did not see the revision as current; the verdict leaves both open"
        }
        // The scope of built-in resources is known.
        UnknownReason::ScopeUnknown if asked.resource.ends_with(GROUP) => {
            "no request says whether a custom resource has namespaces; the verdict leaves both open"
        }
        UnknownReason::SnapshotUnknown
        | UnknownReason::ScopeUnknown
        | UnknownReason::VersionUnknown
        | UnknownReason::VersionTooOld
        | UnknownReason::PatchUnknown
        | UnknownReason::EtcdUnknown
        | UnknownReason::NoRule
        | UnknownReason::Contradicted
        | UnknownReason::AttachedLate => return None,
    };
    remaining.contains(&layer(measured)?).then(|| why.to_owned())
}

fn disagreed(why: &str) -> Outcome {
    Outcome::Disagreed(why.to_owned())
}

fn layer(measured: Measured) -> Option<Layer> {
    match measured {
        Measured::Cache => Some(Layer::Cache),
        Measured::CacheConsistent => Some(Layer::CacheConsistent),
        Measured::Snapshot => Some(Layer::Snapshot),
        Measured::Etcd => Some(Layer::Etcd),
        Measured::Proxied => Some(Layer::Proxied),
        Measured::Refused { .. } => Some(Layer::Rejected),
        Measured::ErrorEvent { .. } => None,
    }
}

fn served_from(verdict: &Value) -> Option<ServedFrom> {
    serde_json::from_value(verdict["served_from"].clone()).ok()
}

impl Judged {
    /// The row of the table.
    pub(super) fn to_json(&self) -> Value {
        let (outcome, reason) = match &self.outcome {
            Outcome::Agreed => ("agreed", ""),
            Outcome::AgreedBySecond => ("agreed", "by the second outcome that the verdict names"),
            Outcome::NotDecidable(reason) => ("not-decidable", reason.as_str()),
            Outcome::NotProvoked(reason) => ("not-provoked", reason.as_str()),
            Outcome::Disagreed(reason) => ("disagreed", reason.as_str()),
        };
        json!({
            "configuration": self.asked.configuration, "resource": self.asked.resource, "row": self.asked.row,
            "request": self.asked.shape, "status": self.asked.status, "counters": self.asked.counters,
            "measured": self.asked.measured.map_or_else(String::new, |measured| measured.to_string()),
            "predicted": self.predicted, "rule": self.rule, "certainty": self.certainty, "outcome": outcome, "reason": reason,
        })
    }

    /// Text for failure messages.
    pub(super) fn sentence(&self) -> String {
        let Asked { configuration, resource, row, method, path, status, measured, counters, .. } = &self.asked;
        let measured = measured.map_or_else(|| "unclear".to_owned(), |measured| measured.to_string());
        format!(
            "{configuration}, {resource}, {row}: {method} {path} -> {status}, {measured} ({counters}); watchtap: {} by {} ({}); {:?}",
            self.predicted, self.rule, self.certainty, self.outcome
        )
    }
}
