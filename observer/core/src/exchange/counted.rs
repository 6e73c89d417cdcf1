//! Marks of the series on an exchange: its labels, and the places where its numbers count.
//!
//! They are kept in the exchange, so that an observation of an open exchange counts without a lookup.

use std::num::NonZeroU16;

/// Number of types of watch events.
pub(crate) const EVENT_TYPES: usize = 6;

/// A place in a table of at most 65 535 entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(NonZeroU16);

impl Place {
    /// The place with this index, from 0; `None` if there is none.
    pub(crate) fn at(index: usize) -> Option<Self> {
        u16::try_from(index).ok()?.checked_add(1).and_then(NonZeroU16::new).map(Self)
    }

    /// Its index, from 0.
    pub(crate) const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The number of a label's value: its place in a table of words, or among the values that came first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ValueNumber(pub(crate) u8);

impl ValueNumber {
    /// The number of all values without room.
    pub(crate) const OTHER: Self = Self(u8::MAX);

    /// Its place in a table, from 0.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The numbers of a request's labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestLabels {
    pub(crate) client: ValueNumber,
    pub(crate) resource: ValueNumber,
    pub(crate) verb: ValueNumber,
    pub(crate) subresource: ValueNumber,
    pub(crate) scope: ValueNumber,
}

impl RequestLabels {
    /// The labels of a request whose labels are unknown.
    pub(crate) const OTHERS: Self = {
        const OTHER: ValueNumber = ValueNumber::OTHER;
        Self { client: OTHER, resource: OTHER, verb: OTHER, subresource: OTHER, scope: OTHER }
    };
}

/// The counts of one exchange in the series so far, and their places. Only `series` reads and changes them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    /// Client, resource, verb, subresource and scope, as numbers.
    pub(crate) labels: RequestLabels,
    /// Whether bytes of the response count before its end.
    pub(crate) as_it_comes: bool,
    /// Whether the time to the response's head is counted.
    pub(crate) first_byte: bool,
    /// Where it counts as under way.
    pub(crate) in_flight: Option<Place>,
    /// Where it counts as an open watch.
    pub(crate) open_watch: Option<Place>,
    /// Where bytes of the request count.
    pub(crate) request: Option<Place>,
    /// Where bytes of the response count, and the number of the layer there.
    pub(crate) response: Option<(ValueNumber, Place)>,
    /// Where watch events of each type count.
    pub(crate) events: [Option<Place>; EVENT_TYPES],
    /// Bytes of the request that are counted.
    pub(crate) request_bytes: u64,
    /// Bytes of the response that are counted.
    pub(crate) response_bytes: u64,
}
