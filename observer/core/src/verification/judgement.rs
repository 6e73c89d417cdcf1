//! Whether a row agrees.

use std::fmt;

use serde::Serialize;

use super::answer::Answer;
use super::counters::Counters;
use super::measured::Measured;
use super::prediction::Prediction;
use crate::routing::{Fallback, Layer, ServedFrom};

/// One time that a row was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// What it came to.
    pub measured: Measured,
    /// By how much the counters moved.
    pub moved: Counters,
    /// What was answered.
    pub answer: Answer,
    /// By how much they moved in a window as long in which nothing was asked; `None` where none was needed, because the row agreed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<Counters>,
    /// Requests of others for the resource meanwhile, where an audit log tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<usize>,
}

/// What comes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Judgement {
    /// The rules said what the counters say.
    Agree,
    /// They said something else, more than once, while nobody else read.
    Disagree,
    /// Somebody else read the resource each time.
    Noisy,
    /// The server gives no way to ask so, such as no second page, or does not let us.
    NotProvoked,
}

/// Times that a row which does not agree has to show the same before it disagrees.
const TIMES: usize = 2;

/// Refusals that say who asks or how busy the server is, not who would have answered.
const NOT_ABOUT_THE_LAYER: [u16; 6] = [401, 403, 429, 500, 502, 503];

/// Compares what was predicted with what was measured; no attempt at all is a row that was not provoked.
pub fn judge(prediction: &Prediction, attempts: &[Attempt]) -> Judgement {
    if attempts.is_empty() {
        return Judgement::NotProvoked;
    }
    let is_alone = |attempt: &Attempt| attempt.others.unwrap_or(0) == 0;
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

/// Whether what was measured is the predicted answer, or the second outcome that was predicted with it.
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

/// Whether nobody else can have moved the counters, and the answer tells of a layer at all.
fn is_undisturbed(attempt: &Attempt) -> bool {
    let tells = match attempt.measured {
        Measured::Refused { status, .. } => !NOT_ABOUT_THE_LAYER.contains(&status),
        Measured::Noise | Measured::NotCounted => false,
        Measured::Layer(_) | Measured::CacheOrEtcd | Measured::AfterWaiting | Measured::ErrorEvent { .. } => true,
    };
    tells && attempt.control.is_some_and(Counters::is_still) && attempt.others.unwrap_or(0) == 0
}

impl Attempt {
    /// Whether we may not ask so.
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
