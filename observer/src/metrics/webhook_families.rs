//! The names of the webhook's metrics. Its counts are in `webhook`.

use observer_core::series::Kind;

use super::exposition::Head;

/// Bounds in microseconds. The API server waits for ten seconds by default, and at most for thirty.
pub(crate) const DURATIONS: &[u64] = &[
    1_000, 2_500, 5_000, 10_000, 20_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 30_000_000,
];

pub(crate) const ADMISSIONS: Head = Head {
    name: "watchtap_webhook_admissions_total",
    kind: Kind::Counter,
    help: "Answered requests of admission, by what happened to the pod; malformed ones had no AdmissionReview",
};
pub(crate) const DURATION: Head = Head {
    name: "watchtap_webhook_admission_duration_seconds",
    kind: Kind::Histogram { bounds: DURATIONS },
    help: "Time from the complete body of a review to its answer",
};
pub(crate) const CLOSED: Head = Head {
    name: "watchtap_webhook_closed_connections_total",
    kind: Kind::Counter,
    help: "Connections that the webhook closed: for the lack of room, or without a handshake",
};
pub(crate) const EXPIRY: Head = Head {
    name: "watchtap_webhook_certificate_expiry_timestamp_seconds",
    kind: Kind::Gauge,
    help: "When the webhook's certificate expires; absent while there is none",
};

/// All of them, with their labels.
#[cfg(test)]
pub(super) const ALL: [(Head, &[(&str, &str)]); 4] = [
    (ADMISSIONS, &[("outcome", "injected, refused, unchanged, malformed")]),
    (DURATION, &[]),
    (CLOSED, &[("reason", "no_room, handshake")]),
    (EXPIRY, &[]),
];
