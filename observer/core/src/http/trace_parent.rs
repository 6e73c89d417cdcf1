//! The place of a request in a trace of its client.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A `traceparent` (W3C Trace Context, Level 2, §3.2). Its text is not kept, since a faulty client might put anything there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceParent {
    /// Names the trace; never 0.
    pub trace: u128,
    /// Names the client's span in it; never 0.
    pub parent: u64,
    /// The flags that Level 2 defines: [`Self::SAMPLED`], and 2 for a random trace identifier.
    pub flags: u8,
}

impl TraceParent {
    /// The flag of a trace that the client records.
    pub const SAMPLED: u8 = 1;
    /// All defined flags.
    const FLAGS: u8 = 3;
    /// Length of version 00 in bytes. Later versions may be longer; a hyphen is then the next byte.
    const LENGTH: usize = 55;
    /// How many bytes of a value are read. They decide whether it is too long.
    pub(super) const MAX_VALUE: usize = Self::LENGTH + 1;

    /// Parses a value, of which the first bytes suffice. `None` if it is invalid: the request is in no trace then (§4.3).
    pub fn parse(value: &[u8]) -> Option<Self> {
        let (known, rest) = value.split_at_checked(Self::LENGTH)?;
        let mut parts = known.split(|byte| *byte == b'-');
        let [version] = hexadecimal(parts.next()?)?;
        let trace = u128::from_be_bytes(hexadecimal(parts.next()?)?);
        let parent = u64::from_be_bytes(hexadecimal(parts.next()?)?);
        let [flags] = hexadecimal(parts.next()?)?;
        let has_end = match version {
            0 => rest.is_empty(),
            0xff => false,
            _ => rest.first().is_none_or(|next| *next == b'-'),
        };
        let is_valid = has_end && parts.next().is_none() && trace != 0 && parent != 0;
        is_valid.then_some(Self { trace, parent, flags: flags & Self::FLAGS })
    }

    /// Whether the client records the trace.
    pub const fn is_sampled(&self) -> bool {
        self.flags & Self::SAMPLED != 0
    }
}

/// Bytes in lower case digits, which alone are valid.
fn hexadecimal<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    let pairs: &[[u8; 2]; N] = pairs.try_into().ok()?;
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

const fn digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "00-{:032x}-{:016x}-{:02x}", self.trace, self.parent, self.flags)
    }
}

impl Serialize for TraceParent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TraceParent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(text.as_bytes()).ok_or_else(|| D::Error::custom("no traceparent"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn valid_value_is_read_and_written() {
        let parsed = TraceParent::parse(VALID.as_bytes()).unwrap();
        assert_eq!((parsed.trace, parsed.parent), (0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736, 0x00f0_67aa_0ba9_02b7));
        assert!(parsed.is_sampled());
        assert_eq!(parsed.to_string(), VALID);
        assert_eq!(serde_json::from_str::<TraceParent>(&serde_json::to_string(&parsed).unwrap()).unwrap(), parsed);
        assert!(serde_json::from_str::<TraceParent>("\"00-\"").is_err());
    }

    #[test]
    fn later_versions_and_unknown_flags_are_read_as_far_as_they_are_known() {
        for (value, flags) in [
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", 0),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03", 3),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fe", 2),
            ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", 1),
            ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", 1),
            ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-", 1),
        ] {
            let parsed = TraceParent::parse(value.as_bytes()).unwrap();
            assert_eq!((parsed.flags, parsed.is_sampled()), (flags, flags & 1 == 1), "{value}");
            assert_eq!(TraceParent::parse(&value.as_bytes()[..value.len().min(TraceParent::MAX_VALUE)]), Some(parsed), "{value}");
        }
    }

    #[test]
    fn other_values_are_in_no_trace() {
        for value in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0A",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7a-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7.01",
            "00-4bf92f3577b34da6a3ce929d0e0e473x-00f067aa0ba902b7-01",
            "0-04bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011",
        ] {
            assert_eq!(TraceParent::parse(value.as_bytes()), None, "{value}");
        }
    }
}
