//! Whether a row agrees.

use std::fmt;

use serde::Serialize;

use super::answer::Answer;
use super::counters::Counters;
use super::measured::Measured;
use super::prediction::Prediction;

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
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// The rules said what the counters say.
    Agree,
    /// They said something else, more than once, while nobody else read.
    Disagree,
    /// Somebody else read the resource each time.
    Noisy,
    /// The server gives no way to ask so, such as no second page.
    NotProvoked,
}

/// Times that a row which does not agree has to show the same before it disagrees.
const TIMES: usize = 2;

/// Compares what was predicted with what was measured; no attempt at all is a row that was not provoked.
pub fn judge(prediction: &Prediction, attempts: &[Attempt]) -> Judgement {
    if attempts.is_empty() {
        return Judgement::NotProvoked;
    }
    if attempts.iter().any(|attempt| prediction.agrees_with(&attempt.measured)) {
        return Judgement::Agree;
    }
    let sound: Vec<Measured> = attempts.iter().filter(|attempt| is_undisturbed(attempt)).map(|attempt| attempt.measured).collect();
    let is_settled = sound.iter().any(|one| sound.iter().filter(|other| *other == one).count() >= TIMES);
    if is_settled { Judgement::Disagree } else { Judgement::Noisy }
}

/// Whether nobody else can have moved the counters.
fn is_undisturbed(attempt: &Attempt) -> bool {
    attempt.measured != Measured::Noise && attempt.control.is_some_and(Counters::is_still) && attempt.others.unwrap_or(0) == 0
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
