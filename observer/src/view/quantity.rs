//! Numbers for people, each with a unit.

use observer_core::time::Timestamp;

pub(super) use observer_core::quantity::{bytes, counted_as, microseconds};
pub(crate) use observer_core::quantity::{count, counted, length};

/// `310 µs`, `4 ms`, `3.0 s`; `-` for `None`.
pub(super) fn microseconds_or_none(number: Option<u64>) -> String {
    number.map_or_else(|| "-".to_owned(), microseconds)
}

/// `12:00:01.204`, in UTC.
pub(super) fn time_of_day(at: Timestamp) -> String {
    let text = at.to_string();
    text.get(11..23).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_times_are_a_dash() {
        assert_eq!([None, Some(310)].map(microseconds_or_none), ["-", "310 µs"]);
    }
}
