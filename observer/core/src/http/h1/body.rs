//! Reads a body by its framing.

use super::body_step::BodyStep;
use super::chunked::Chunked;
use super::input::Input;
use crate::redacted::Redacted;

/// The unread rest of a body.
#[derive(Debug)]
pub(super) enum Body {
    /// This many bytes.
    Length(u64),
    /// Chunks, then trailers.
    Chunked(Chunked),
    /// All bytes until the connection ends.
    UntilEnd,
}

impl Body {
    /// A message without content.
    pub(super) const EMPTY: Self = Self::Length(0);

    /// A chunked body before its first chunk.
    pub(super) fn chunked() -> Self {
        Self::Chunked(Chunked::default())
    }

    /// Reads the next part.
    pub(super) fn step<'a>(&mut self, input: &mut Input<'a>) -> BodyStep<'a> {
        match self {
            Self::Length(0) => BodyStep::Done,
            Self::Length(left) => {
                let bytes = input.take(*left);
                *left = left.saturating_sub(bytes.len() as u64);
                data(bytes)
            }
            Self::Chunked(chunked) => chunked.step(input),
            Self::UntilEnd => data(input.take(u64::MAX)),
        }
    }

    /// Skips the first of `missing` unseen bytes, as far as they are certainly content, and returns how many it skipped: fewer than
    /// `missing` if the gap reaches into framing.
    pub(super) fn skip(&mut self, missing: u64) -> u64 {
        match self {
            Self::Length(left) => {
                let covered = missing.min(*left);
                *left = left.saturating_sub(covered);
                covered
            }
            Self::Chunked(chunked) => chunked.skip(missing),
            Self::UntilEnd => missing,
        }
    }

    /// Whether the end of the connection ends the body.
    pub(super) fn ends_with_connection(&self) -> bool {
        match self {
            Self::UntilEnd => true,
            Self::Length(_) | Self::Chunked(_) => false,
        }
    }

    /// Bytes held of an incomplete line.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Chunked(chunked) => chunked.held(),
            Self::Length(_) | Self::UntilEnd => 0,
        }
    }
}

fn data(bytes: &[u8]) -> BodyStep<'_> {
    if bytes.is_empty() { BodyStep::Wait } else { BodyStep::Data(Redacted(bytes)) }
}
