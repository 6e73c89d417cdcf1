//! Inputs that are longer than what may be held of them.

/// One input in so many is read over and over, which takes as much longer.
const ONE_IN: usize = 32;

/// How many times `input` is to be read in a row, so that whoever keeps all that he reads holds more than `most` bytes: for some inputs, by
/// their length. The others are read once.
pub(crate) fn times_beyond(most: u64, input: &[u8]) -> usize {
    let is_chosen = !input.is_empty() && input.len().is_multiple_of(ONE_IN);
    if is_chosen { usize::try_from(most).map_or(1, |most| most / input.len() + 2) } else { 1 }
}
