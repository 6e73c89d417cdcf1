//! Writes an observation as one line of JSON, and parses such lines.

use serde::Deserialize;

use super::bounds::{self, OutOfBounds};
use crate::k8s::Status;
use crate::observation::{Body, ExchangeObservation, Observation, Subject};
use crate::time::Timestamp;

/// Longest line that is written or read, in bytes. The writer splits longer batches; batch boundaries have no meaning.
pub(super) const MAX_LINE: usize = 512 << 10;

/// An observation has no line: it is longer than [`MAX_LINE`], or cannot be serialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// The line of an observation, with its newline.
pub(super) fn line(observation: &Observation) -> Result<Vec<u8>, TooLong> {
    let mut line = serde_json::to_vec(observation).map_err(|_unserialisable| TooLong)?;
    line.push(b'\n');
    if line.len() <= MAX_LINE { Ok(line) } else { Err(TooLong) }
}

/// The two halves of a batch; `None` when the observation is no batch, or a batch of one.
pub(super) fn halves(observation: &Observation) -> Option<[Observation; 2]> {
    let Subject::Exchange(exchange, ExchangeObservation::BodyRead { body }) = &observation.subject else { return None };
    let of = |body| {
        let subject = Subject::Exchange(*exchange, ExchangeObservation::BodyRead { body });
        Observation { at: observation.at, subject }
    };
    match body {
        Body::Items(items) if items.len() > 1 => {
            let (one, other) = items.split_at(items.len() / 2);
            Some([of(Body::Items(one.to_vec())), of(Body::Items(other.to_vec()))])
        }
        Body::Events(events) if events.len() > 1 => {
            let (one, other) = events.split_at(events.len() / 2);
            Some([of(Body::Events(one.to_vec())), of(Body::Events(other.to_vec()))])
        }
        Body::Items(_)
        | Body::Events(_)
        | Body::MediaType(_)
        | Body::Kind(_)
        | Body::List(_)
        | Body::Object(_)
        | Body::Version(_)
        | Body::Status(_) => None,
    }
}

/// Parses a line without its newline. A line that cannot be parsed gives [`Subject::Unknown`], at the line's own time or, without
/// one, at `otherwise`.
pub(super) fn observation(line: &[u8], otherwise: Timestamp) -> Result<Observation, OutOfBounds> {
    #[derive(Deserialize)]
    struct Stamp {
        at: Timestamp,
    }
    if line.len() >= MAX_LINE {
        return Err(OutOfBounds);
    }
    bounds::check(line)?;
    let observation = serde_json::from_slice(line).unwrap_or_else(|_not_ours| {
        let at = serde_json::from_slice(line).map_or(otherwise, |stamp: Stamp| stamp.at);
        Observation { at, subject: Subject::Unknown }
    });
    if causes(&observation.subject) <= Status::MAX_CAUSES { Ok(observation) } else { Err(OutOfBounds) }
}

/// Number of causes in the `Status` with the most causes. They are bounded, because an exchange keeps its `Status`.
fn causes(subject: &Subject) -> usize {
    let Subject::Exchange(_, ExchangeObservation::BodyRead { body, .. }) = subject else { return 0 };
    match body {
        Body::Status(status) => status.causes.len(),
        Body::Events(events) => {
            events.iter().filter_map(|event| event.status.as_ref()).map(|status| status.causes.len()).max().unwrap_or_default()
        }
        Body::MediaType(_) | Body::Kind(_) | Body::List(_) | Body::Items(_) | Body::Object(_) | Body::Version(_) => 0,
    }
}
