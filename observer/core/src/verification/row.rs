//! One row of the result, and the tally of all rows.

use serde::Serialize;

use super::judgement::{Attempt, Judgement, judge};
use super::measured::Measured;
use super::prediction::Prediction;
use super::shape::Shape;
use crate::routing::{Otherwise, RuleId, ServedFrom};

/// A shape, its prediction and its measurements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The shape's title.
    pub shape: &'static str,
    /// Path and query of the request; empty when it could not be made.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub request: String,
    /// The layer that the rules predict.
    pub predicted: Option<ServedFrom>,
    /// The second outcome that the rules predict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Otherwise>,
    /// The rule of the prediction.
    pub rule: Option<RuleId>,
    /// All attempts, in order.
    pub attempts: Vec<Attempt>,
    /// The result of the row.
    pub judgement: Judgement,
    /// Whether the row can prove something: the rules name one layer, and one was measured.
    pub is_conclusive: bool,
    /// A remark on the row, one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Number of rows by judgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All rows.
    pub shapes: usize,
    /// See [`Judgement::Agree`].
    pub agree: usize,
    /// Rows that agree but prove nothing, because any answer would have agreed.
    pub inconclusive: usize,
    /// See [`Judgement::Disagree`].
    pub disagree: usize,
    /// See [`Judgement::Noisy`].
    pub noisy: usize,
    /// See [`Judgement::NotProvoked`].
    pub not_provoked: usize,
}

impl Row {
    /// A row whose request could be made.
    pub fn asked(shape: &Shape, request: String, prediction: &Prediction, attempts: Vec<Attempt>) -> Self {
        Self {
            shape: shape.title,
            request,
            predicted: Some(prediction.verdict.served_from.clone()),
            otherwise: prediction.verdict.otherwise,
            rule: Some(prediction.verdict.rule),
            judgement: judge(prediction, &attempts),
            is_conclusive: prediction.is_conclusive() && !attempts.iter().all(|attempt| attempt.measured == Measured::CacheOrEtcd),
            note: attempts.iter().all(Attempt::is_denied).then(|| format!("you may not {} it", prediction.verb.as_str())),
            attempts,
        }
    }

    /// A row whose request could not be made.
    pub fn not_provoked(shape: &Shape, reason: String) -> Self {
        Self {
            shape: shape.title,
            request: String::new(),
            predicted: None,
            otherwise: None,
            rule: None,
            attempts: Vec::new(),
            judgement: Judgement::NotProvoked,
            is_conclusive: false,
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
            inconclusive: rows.iter().filter(|row| row.judgement == Judgement::Agree && !row.is_conclusive).count(),
            disagree: came_to(Judgement::Disagree),
            noisy: came_to(Judgement::Noisy),
            not_provoked: came_to(Judgement::NotProvoked),
        }
    }
}
