//! One row of the result, and all of them together.

use serde::Serialize;

use super::judgement::{Attempt, Judgement, judge};
use super::measured::Measured;
use super::prediction::Prediction;
use super::shape::Shape;
use crate::routing::{Otherwise, RuleId, ServedFrom};

/// A shape, what was predicted for it, and what was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The shape's title.
    pub shape: &'static str,
    /// Path and query that were asked for; empty where there was no way to ask.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub request: String,
    /// Which layer the rules name.
    pub predicted: Option<ServedFrom>,
    /// The second outcome that they name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Otherwise>,
    /// The rule that says so.
    pub rule: Option<RuleId>,
    /// What was found, in the order of asking; the last one counts unless an earlier one agrees.
    pub attempts: Vec<Attempt>,
    /// What came of it.
    pub judgement: Judgement,
    /// Whether it could have come out otherwise: one layer was named, and one was measured.
    pub decided: bool,
    /// What else is to be said of it, a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How many rows came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Rows in all.
    pub shapes: usize,
    /// See [`Judgement::Agree`].
    pub agree: usize,
    /// Of those, the rows that could not have come out otherwise.
    pub undecided: usize,
    /// See [`Judgement::Disagree`].
    pub disagree: usize,
    /// See [`Judgement::Noisy`].
    pub noisy: usize,
    /// See [`Judgement::NotProvoked`].
    pub not_provoked: usize,
}

impl Row {
    /// A row that was asked.
    pub fn asked(shape: &Shape, request: String, prediction: &Prediction, attempts: Vec<Attempt>) -> Self {
        Self {
            shape: shape.title,
            request,
            predicted: Some(prediction.verdict.served_from.clone()),
            otherwise: prediction.verdict.otherwise,
            rule: Some(prediction.verdict.rule),
            judgement: judge(prediction, &attempts),
            decided: prediction.is_decided() && !attempts.iter().all(|attempt| attempt.measured == Measured::CacheOrEtcd),
            note: attempts.iter().all(Attempt::is_denied).then(|| format!("you may not {} it", prediction.verb.as_str())),
            attempts,
        }
    }

    /// A row that the server gave no way to ask.
    pub fn not_provoked(shape: &Shape, reason: String) -> Self {
        Self {
            shape: shape.title,
            request: String::new(),
            predicted: None,
            otherwise: None,
            rule: None,
            attempts: Vec::new(),
            judgement: Judgement::NotProvoked,
            decided: false,
            note: Some(reason),
        }
    }
}

impl Tally {
    /// Counts the rows.
    pub fn of(rows: &[Row]) -> Self {
        let came_to = |judgement| rows.iter().filter(|row| row.judgement == judgement).count();
        Self {
            shapes: rows.len(),
            agree: came_to(Judgement::Agree),
            undecided: rows.iter().filter(|row| row.judgement == Judgement::Agree && !row.decided).count(),
            disagree: came_to(Judgement::Disagree),
            noisy: came_to(Judgement::Noisy),
            not_provoked: came_to(Judgement::NotProvoked),
        }
    }
}
