//! The traffic of a connection, in a form that a fuzzer can mutate.
//!
//! Each record has a kind (0 request bytes, 1 response bytes, 2 request gap, 3 response gap; modulo 4), a length as two
//! little-endian bytes, and for bytes the payload, truncated at the end of the input.

use observer_core::http::Direction;

/// The records, in order.
pub(crate) struct Tape<'t>(pub(crate) &'t [u8]);

/// Bytes or a gap in one direction.
pub(crate) enum Record<'t> {
    Bytes(Direction, &'t [u8]),
    Gap(Direction, u64),
}

impl<'t> Iterator for Tape<'t> {
    type Item = Record<'t>;

    fn next(&mut self) -> Option<Record<'t>> {
        let (&[kind, low, high], rest) = self.0.split_first_chunk::<3>()?;
        let length = usize::from(u16::from_le_bytes([low, high]));
        let direction = if kind % 2 == 0 { Direction::Request } else { Direction::Response };
        let payload_length = if kind % 4 >= 2 { 0 } else { length.min(rest.len()) };
        let (payload, rest) = rest.split_at(payload_length);
        self.0 = rest;
        Some(if kind % 4 >= 2 { Record::Gap(direction, length as u64) } else { Record::Bytes(direction, payload) })
    }
}
