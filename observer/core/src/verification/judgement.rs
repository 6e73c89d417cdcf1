//! Judges whether a row agrees with its prediction.

use std::fmt;

use serde::Serialize;

use super::answer::ObservedAnswer;
use super::counters::Counters;
use super::measured::Measured;
use super::prediction::Prediction;
use crate::routing::{Fallback, Layer, ServedFrom};

/// One attempt to measure a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// The measured result.
    pub measured: Measured,
    /// The increase of each counter.
    pub moved: Counters,
    /// The server's answer.
    pub answer: ObservedAnswer,
    /// The increase of each counter in an equally long window without a request; `None` when the row agreed without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<Counters>,
    /// Number of requests by other clients for the resource meanwhile; `None` without an audit log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_requests: Option<usize>,
}

/// The result of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Judgement {
    /// The prediction of the rules and the counters agree.
    Agree,
    /// The counters contradict the rules, more than once, while no other client read.
    Disagree,
    /// Other clients may have read the resource, or no contradiction was measured twice.
    Noisy,
    /// The server offers no way to make the request, such as no second page, or denies it.
    NotProvoked,
}

/// Number of equal, undisturbed measurements that a row needs before it counts as disagreeing.
const TIMES: usize = 2;

/// Statuses of refusals that depend on the client or on the server's load, not on the layer.
const NOT_ABOUT_THE_LAYER: [u16; 6] = [401, 403, 429, 500, 502, 503];

/// Compares the prediction with the attempts; a row without attempts was not provoked.
pub fn judge(prediction: &Prediction, attempts: &[Attempt]) -> Judgement {
    if attempts.is_empty() {
        return Judgement::NotProvoked;
    }
    let is_alone = |attempt: &Attempt| attempt.other_requests.unwrap_or(0) == 0;
    if attempts.iter().any(|attempt| is_alone(attempt) && agrees(prediction, &attempt.measured)) {
        return Judgement::Agree;
    }
    if attempts.iter().all(Attempt::is_denied) {
        return Judgement::NotProvoked;
    }
    let sound: Vec<Measured> = attempts.iter().filter(|attempt| is_undisturbed(attempt)).map(|attempt| attempt.measured).collect();
    let is_settled = sound.iter().any(|one| sound.iter().filter(|other| *other == one).count() >= TIMES);
    if is_settled { Judgement::Disagree } else { Judgement::Noisy }
}

/// Whether the measurement is the predicted answer, or its predicted second outcome.
pub fn agrees(prediction: &Prediction, measured: &Measured) -> bool {
    let served_from = &prediction.verdict.served_from;
    let otherwise = prediction.verdict.otherwise.map(|otherwise| otherwise.then);
    let layers = served_from.layers();
    let is_open = matches!(served_from, ServedFrom::Unknown { .. });
    match *measured {
        Measured::Layer(layer) => layers.contains(&layer),
        Measured::CacheOrEtcd => layers.contains(&Layer::Cache) || layers.contains(&Layer::Etcd),
        Measured::AfterWaiting => otherwise == Some(Fallback::Etcd),
        Measured::Refused { status, etcd_touched } => {
            *served_from == ServedFrom::Rejected { status, etcd_touched }
                || otherwise == Some(Fallback::Rejected { status })
                || (is_open && layers.contains(&Layer::Rejected))
        }
        Measured::ErrorEvent { code } => {
            matches!(*served_from, ServedFrom::Rejected { status, .. } if status == code)
                || otherwise == Some(Fallback::ErrorEvent { code })
                || (is_open && layers.contains(&Layer::Rejected))
        }
        Measured::NotCounted => layers.contains(&Layer::Proxied),
        Measured::Noise => false,
    }
}

/// Whether no other client can have increased the counters, and the answer shows a layer.
fn is_undisturbed(attempt: &Attempt) -> bool {
    let shows_layer = match attempt.measured {
        Measured::Refused { status, .. } => !NOT_ABOUT_THE_LAYER.contains(&status),
        Measured::Noise | Measured::NotCounted => false,
        Measured::Layer(_) | Measured::CacheOrEtcd | Measured::AfterWaiting | Measured::ErrorEvent { .. } => true,
    };
    shows_layer && attempt.control.is_some_and(Counters::is_still) && attempt.other_requests.unwrap_or(0) == 0
}

impl Attempt {
    /// Whether the server denied the request (401 or 403).
    pub fn is_denied(&self) -> bool {
        matches!(self.measured, Measured::Refused { status: 401 | 403, .. })
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Agree => "agree",
            Self::Disagree => "disagree",
            Self::Noisy => "noisy",
            Self::NotProvoked => "not provoked",
        })
    }
}
