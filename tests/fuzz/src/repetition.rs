//! Repeats inputs until they exceed what a reader may hold.

/// One input in this many is repeated, because repetition costs time.
const ONE_IN: usize = 32;

/// How many times to read `input` in a row, so that a reader that keeps everything holds more than `most` bytes. The length of the
/// input decides; most inputs are read once.
pub(crate) fn times_beyond(most: u64, input: &[u8]) -> usize {
    let is_chosen = !input.is_empty() && input.len().is_multiple_of(ONE_IN);
    if is_chosen { usize::try_from(most).map_or(1, |most| most / input.len() + 2) } else { 1 }
}
