//! Short labels for the causes of relists, for cells of tables.

/// Labels by identifier, for causes without a status code.
const LABELS: [(&str, &str); 24] = [
    ("expired/bookmarks-not-requested", "410 Gone: bookmarks off"),
    ("expired/no-bookmarks", "410 Gone: no bookmarks sent"),
    ("expired/cache-reset", "410 Gone: watch cache reset"),
    ("expired/window-passed", "410 Gone: event window passed"),
    ("expired/client-stalled", "410 Gone: client stalled"),
    ("expired/unknown", "410 Gone: reason not observed"),
    ("too-large-resource-version", "504: resource version too large"),
    ("very-short-watch", "watch ended within a second"),
    ("closed-by-force", "watch closed by force: slow client"),
    ("too-many-requests", "429 Too Many Requests"),
    ("stream-reset", "watch stream reset"),
    ("connection-lost", "connection lost"),
    ("refused-misread", "connection refused, listed instead of resuming (client-go < 1.16)"),
    ("list-expired", "410 Gone: list's revision compacted"),
    ("continue-expired", "410 Gone: page too late"),
    ("new-process", "client process restarted"),
    ("rebuilt", "client rebuilt its informer"),
    ("watch-without-revision", "watch without resource version"),
    ("unknown/not-observed", "unknown: traffic not observed"),
    ("unknown/watch-ended-normally", "unknown: watch ended normally"),
    ("unknown/after-refusal", "unknown: after refused connections"),
    ("unknown/by-watchtap", "connection closed by watchtap"),
    ("unknown/cancelled", "unknown: client cancelled its watch"),
    ("unknown/end-not-logged", "unknown: end of the watch not logged"),
];

/// The label of the cause with this [`RelistCause::id`](super::RelistCause::id).
pub fn cause_label(id: &str) -> String {
    let coded = |prefix: &str, words: &str| id.strip_prefix(prefix).map(|code| format!("{words} {code}"));
    let known = || LABELS.iter().find(|(known, _)| *known == id).map(|(_, label)| (*label).to_owned());
    let label = known().or_else(|| coded("watch-error/", "ERROR event")).or_else(|| coded("watch-refused/", "watch refused:"));
    label.unwrap_or_else(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflector::RelistCause;
    use crate::reflector::named_cause::WITHOUT_CODE;

    #[test]
    fn every_cause_has_a_label() {
        let coded = [RelistCause::WatchError { code: 500 }, RelistCause::WatchRefused { status: 403 }];
        for id in WITHOUT_CODE.into_iter().chain(coded).map(RelistCause::id) {
            assert_ne!(cause_label(&id), id);
        }
        for (id, _) in LABELS {
            assert!(WITHOUT_CODE.iter().any(|cause| cause.id() == id), "{id} is the label of no cause");
        }
        assert_eq!(cause_label("watch-refused/403"), "watch refused: 403");
        assert_eq!(cause_label("later-one"), "later-one");
    }
}
