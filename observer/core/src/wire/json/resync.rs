//! Finds a watch event after a gap.

use memchr::memchr;

/// Searches for the beginning of an event: counts how many of the last bytes match it.
///
/// kube-apiserver writes an event as `{"type":…,"object":…}` without whitespace, and one newline after it (kubernetes/apimachinery
/// `pkg/apis/meta/v1/watch.go`, `pkg/runtime/serializer/json/json.go`). No JSON string contains a raw newline, and in indented JSON
/// spaces follow it. So a newline followed by `{"type":"` cannot be inside an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Resync {
    matched: usize,
}

impl Resync {
    /// The bytes to find: the end of one event and the beginning of the next.
    pub(super) const BEGINNING: &[u8] = b"\n{\"type\":\"";

    /// Searches the next bytes; returns the offset after a beginning that ends in `bytes`.
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut rest = bytes;
        loop {
            if self.matched == 0 {
                let newline = memchr(b'\n', rest)?;
                rest = rest.get(newline..)?;
            }
            let (byte, after) = rest.split_first()?;
            if Self::BEGINNING.get(self.matched) == Some(byte) {
                self.matched += 1;
                rest = after;
            } else {
                // Only the first byte is a newline, so only the current byte can begin a match.
                self.matched = 0;
            }
            if self.matched == Self::BEGINNING.len() {
                self.matched = 0;
                return Some(bytes.len() - rest.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Resync;

    #[test]
    fn beginning_is_found_wherever_the_chunks_are_cut() {
        let bytes = b"\n{\"ty\n\n{\"type\":\"ADDED";
        for cut in 0..bytes.len() {
            let mut resync = Resync::default();
            let (first, second) = bytes.split_at(cut);
            let found = resync.find(first).or_else(|| resync.find(second).map(|end| cut + end));
            assert_eq!(found, Some(16), "cut at {cut}");
        }
    }

    #[test]
    fn indented_events_are_not_taken_for_beginnings() {
        assert_eq!(Resync::default().find(b"\n  {\"type\":\"ADDED\"}\n{ \"type\":\"ADDED\"}\n"), None);
    }
}
