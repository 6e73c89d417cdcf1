//! Compares the bytes of one connection at two hops: each hop must receive the bytes that the other sent.

use std::collections::VecDeque;

use super::flow::{End, Seen};

/// Both directions.
#[derive(Debug, Default)]
pub(super) struct Passage {
    pub(super) request: Way,
    pub(super) response: Way,
    /// Whether both TLS handshakes are complete.
    pub(super) is_joined: bool,
    /// Whether the test broke it, or a handshake failed. Then it may end in any way, but must not deliver other bytes.
    pub(super) is_disturbed: bool,
}

/// One direction.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// Bytes sent but not yet received; bounded by the socket buffers between the hops.
    unmatched: VecDeque<u8>,
    pub(super) carried: Carried,
    given_end: Option<End>,
    gotten_end: Option<End>,
}

/// Byte counts of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Bytes sent into the path between the hops.
    pub given: u64,
    /// Bytes that were received unchanged.
    pub gotten: u64,
}

/// A direction of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of {
    Request,
    Response,
}

impl Passage {
    /// Records bytes or an end that one hop sends.
    pub(super) fn give(&mut self, of: Of, seen: Seen<'_>) {
        let way = self.way(of).0;
        match seen {
            Seen::Bytes(bytes) => {
                way.carried.given += bytes.len() as u64;
                if way.gotten_end.is_none() {
                    way.unmatched.extend(bytes);
                }
            }
            Seen::End(end) => way.given_end = Some(end),
        }
    }

    /// Records bytes or an end that the other hop receives; an error describes the deviation.
    pub(super) fn get(&mut self, of: Of, seen: Seen<'_>) -> Result<(), String> {
        let is_disturbed = self.is_disturbed;
        let (way, other) = self.way(of);
        match seen {
            Seen::Bytes(bytes) => way.get(bytes),
            Seen::End(end) => {
                way.gotten_end = Some(end);
                let lacking = std::mem::take(&mut way.unmatched).len();
                match (way.given_end, end) {
                    (Some(End::CloseNotify), End::CloseNotify) if lacking == 0 => Ok(()),
                    (Some(End::CloseNotify), End::CloseNotify) => {
                        Err(format!("close_notify came, and {lacking} bytes before it did not"))
                    }
                    (Some(End::Cut), End::CloseNotify) => Err("the end came as close_notify, and was none".to_owned()),
                    (None, End::CloseNotify) => Err("close_notify came, and nobody had sent it".to_owned()),
                    // A peer that has closed both directions does not receive the rest.
                    (_, End::Cut) if is_disturbed || other.has_an_end() => Ok(()),
                    (Some(End::Cut), End::Cut) if lacking == 0 => Ok(()),
                    (Some(End::Cut), End::Cut) => {
                        Err(format!("cut off as it should be, and {lacking} bytes before that did not come"))
                    }
                    (_, End::Cut) => Err(format!("cut off for no reason, with {lacking} bytes under way")),
                }
            }
        }
    }

    /// Whether every sent byte was received.
    pub(super) fn is_complete(&self) -> bool {
        [&self.request, &self.response].iter().all(|way| way.carried.given == way.carried.gotten)
    }

    fn way(&mut self, of: Of) -> (&mut Way, &Way) {
        match of {
            Of::Request => (&mut self.request, &self.response),
            Of::Response => (&mut self.response, &self.request),
        }
    }
}

impl Way {
    fn get(&mut self, bytes: &[u8]) -> Result<(), String> {
        let at = self.carried.gotten;
        if bytes.len() > self.unmatched.len() {
            return Err(format!("at {at}: {} bytes came, {} are under way", bytes.len(), self.unmatched.len()));
        }
        // Comparing the two halves of the ring is far faster than single bytes. The first difference is located only after a
        // mismatch.
        let (front, back) = self.unmatched.as_slices();
        let (of_front, of_back) = bytes.split_at(bytes.len().min(front.len()));
        if !front.starts_with(of_front) || !back.starts_with(of_back) {
            let place = self.unmatched.iter().zip(bytes).position(|(given, gotten)| given != gotten);
            return Err(format!("another byte than was given, at {}", at + place.unwrap_or_default() as u64));
        }
        self.unmatched.drain(..bytes.len());
        self.carried.gotten += bytes.len() as u64;
        Ok(())
    }

    fn has_an_end(&self) -> bool {
        self.given_end.is_some() || self.gotten_end.is_some()
    }
}

impl std::ops::AddAssign for Carried {
    fn add_assign(&mut self, more: Self) {
        self.given += more.given;
        self.gotten += more.gotten;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOSE_NOTIFY: Seen<'_> = Seen::End(End::CloseNotify);
    const CUT: Seen<'_> = Seen::End(End::Cut);

    #[test]
    fn same_bytes_in_other_chunks_are_equal() {
        let mut passage = given(&[Seen::Bytes(b"que"), Seen::Bytes(b"stion"), CLOSE_NOTIFY]);
        for seen in [Seen::Bytes(b"q"), Seen::Bytes(b"uestion"), CLOSE_NOTIFY] {
            passage.get(Of::Request, seen).unwrap();
        }
        assert_eq!(passage.request.carried, Carried { given: 8, gotten: 8 });
        assert!(passage.is_complete());
        passage.give(Of::Response, Seen::Bytes(b"answer"));
        assert!(!passage.is_complete(), "the answer has not come");
    }

    #[test]
    fn changed_or_added_byte_is_reported_with_its_position() {
        check(&[Seen::Bytes(b"abc")], &[Seen::Bytes(b"a"), Seen::Bytes(b"xc")], "another byte than was given, at 1");
        check(&[Seen::Bytes(b"abc")], &[Seen::Bytes(b"abcd")], "at 0: 4 bytes came, 3 are under way");
    }

    #[test]
    fn unexpected_end_is_reported() {
        check(&[Seen::Bytes(b"abc"), CLOSE_NOTIFY], &[CLOSE_NOTIFY], "close_notify came, and 3 bytes before it did not");
        check(&[], &[CLOSE_NOTIFY], "close_notify came, and nobody had sent it");
        check(&[CUT], &[CLOSE_NOTIFY], "the end came as close_notify, and was none");
        check(&[Seen::Bytes(b"abc")], &[CUT], "cut off for no reason, with 3 bytes under way");
        check(&[Seen::Bytes(b"abc"), CUT], &[CUT], "cut off as it should be, and 3 bytes before that did not come");
    }

    #[test]
    fn explained_cut_is_accepted() {
        given(&[CUT]).get(Of::Request, CUT).unwrap();
        let mut left = given(&[Seen::Bytes(b"abc")]);
        left.give(Of::Response, CLOSE_NOTIFY);
        left.get(Of::Request, CUT).unwrap();
        let mut disturbed = given(&[Seen::Bytes(b"abc")]);
        disturbed.is_disturbed = true;
        disturbed.get(Of::Request, CUT).unwrap();
    }

    #[track_caller]
    fn check(give: &[Seen<'_>], get: &[Seen<'_>], expected: &str) {
        let mut passage = given(give);
        let outcome = get.iter().try_for_each(|seen| passage.get(Of::Request, *seen));
        assert_eq!(outcome.unwrap_err(), expected);
    }

    fn given(seen: &[Seen<'_>]) -> Passage {
        let mut passage = Passage::default();
        for seen in seen {
            passage.give(Of::Request, *seen);
        }
        passage
    }
}
