//! A verdict in the words of the screens.

use observer_core::observer::VerdictRecord;
use observer_core::routing::{Certainty, Layer, ProofId, ServedFrom};

use super::colour::Tone;

/// A layer after its mark, for running text: `~ cache`, `! etcd`; a confirmed one without a mark.
pub(super) fn marked(certainty: Option<Certainty>, layer: &ServedFrom) -> String {
    format!("{} {layer}", certainty_mark(certainty)).trim_start().to_owned()
}

/// A layer after its mark, for a column: the layers are aligned, and the mark of a confirmed one is a space.
pub(super) fn marked_cell(verdict: Option<&VerdictRecord>) -> String {
    let mark = verdict.map_or("", |verdict| certainty_mark(Some(verdict.certainty)));
    format!("{mark:<1} {}", served_from(verdict))
}

/// `cache`, `cache, consistent`, `etcd`, …; `-` for requests that read no objects.
pub(super) fn served_from(verdict: Option<&VerdictRecord>) -> String {
    verdict.map_or_else(|| "-".to_owned(), |verdict| verdict.served_from.to_string())
}

/// The rule's identifier; empty without a verdict.
pub(super) fn rule(verdict: Option<&VerdictRecord>) -> &'static str {
    verdict.map_or("", |verdict| verdict.rule)
}

/// `~` for predicted, empty for confirmed, `!` for contradicted.
const fn certainty_mark(certainty: Option<Certainty>) -> &'static str {
    match certainty {
        Some(Certainty::Predicted) => "~",
        Some(Certainty::Contradicted) => "!",
        Some(Certainty::Confirmed) | None => "",
    }
}

/// Both sides of a contradiction: `verdict corrected: answered by etcd (predicted: cache, list-rv0)`.
pub(super) fn contradiction(verdict: &VerdictRecord) -> String {
    let predicted = verdict.predicted.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string);
    let shown = match &verdict.served_from {
        ServedFrom::Unknown { remaining, .. } if remaining.is_empty() => "no layer gives this answer".to_owned(),
        ServedFrom::Unknown { remaining, .. } => format!("answered by {}", either(remaining)),
        ServedFrom::Rejected { status, .. } => format!("refused with {status}"),
        shown @ (ServedFrom::Cache
        | ServedFrom::CacheConsistent
        | ServedFrom::Snapshot
        | ServedFrom::Etcd
        | ServedFrom::Proxied) => format!("answered by {shown}"),
    };
    format!("verdict corrected: {shown} (predicted: {predicted}, {})", verdict.rule)
}

/// Details in addition to the layer: the remaining layers and the reason, the status of a refusal, or the wrong prediction.
pub(super) fn detail(verdict: &VerdictRecord) -> Option<String> {
    if verdict.predicted.is_some() {
        let proof = verdict.proof.map_or("", ProofId::as_str);
        return Some(format!("{} ({proof})", contradiction(verdict)));
    }
    match &verdict.served_from {
        ServedFrom::Unknown { reason, remaining } if remaining.is_empty() => Some(reason.to_string()),
        ServedFrom::Unknown { reason, remaining } => Some(format!("{}: {reason}", either(remaining))),
        ServedFrom::Rejected { status, .. } => Some(format!("refused with {status}")),
        ServedFrom::Cache | ServedFrom::CacheConsistent | ServedFrom::Snapshot | ServedFrom::Etcd | ServedFrom::Proxied => None,
    }
}

/// The remaining layers: `snapshot or etcd`.
pub(super) fn either(remaining: &[Layer]) -> String {
    let layers: Vec<String> = remaining.iter().map(ToString::to_string).collect();
    layers.join(" or ")
}

/// The tone for the layer of an answer.
pub(super) fn served_tone(verdict: Option<&VerdictRecord>) -> Tone {
    match verdict.map(|verdict| &verdict.served_from) {
        Some(ServedFrom::Cache | ServedFrom::CacheConsistent | ServedFrom::Snapshot) => Tone::Good,
        Some(ServedFrom::Etcd) => Tone::Bad,
        Some(ServedFrom::Unknown { .. } | ServedFrom::Rejected { .. }) => Tone::Notable,
        Some(ServedFrom::Proxied) | None => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use observer_core::routing::attached_late;

    use super::*;

    #[test]
    fn request_before_attaching_is_unknown_with_its_reason() {
        let verdict = VerdictRecord::from(&attached_late());
        assert_eq!(served_from(Some(&verdict)), "unknown");
        assert_eq!(detail(&verdict).as_deref(), Some("attached late"));
    }
}
