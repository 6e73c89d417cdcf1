//! The events of a connection, for comparing two readings of it.

use observer_core::http::{Direction, Event, StreamId};

/// The events so far; adjacent slices of one body are joined.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EventLog(pub(crate) Vec<Line>);

/// One event, or the joined slices of a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Bytes of a body or of an upgraded exchange; only their number is kept.
    Stretch { stream: StreamId, direction: Direction, opaque: bool, seen: bool, length: u64 },
    /// Bytes that are not HTTP, or a direction that was lost.
    Wrong(Direction, String),
    /// The `Debug` form of any other event.
    Other(String),
}

impl EventLog {
    pub(crate) fn note(&mut self, event: &Event<'_>) {
        let line = Line::of(event);
        match (self.0.last_mut(), &line) {
            (
                Some(Line::Stretch { stream, direction, opaque, seen, length }),
                Line::Stretch { stream: same, direction: way, opaque: kind, seen: sight, length: more },
            ) if (*stream, *direction, *opaque, *seen) == (*same, *way, *kind, *sight) => *length += more,
            _ => self.0.push(line),
        }
    }

    /// Whether all bytes were HTTP and no direction was lost.
    pub(crate) fn is_sound(&self) -> bool {
        !self.0.iter().any(|line| matches!(line, Line::Wrong(..)))
    }

    /// All lines except body stretches.
    pub(crate) fn without_stretches(&self) -> Vec<&Line> {
        self.0.iter().filter(|line| !matches!(line, Line::Stretch { .. })).collect()
    }
}

impl Line {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all events but these are noted as they are")]
    fn of(event: &Event<'_>) -> Self {
        let stretch = |stream, direction, opaque, seen, length| Self::Stretch { stream, direction, opaque, seen, length };
        match *event {
            Event::Body { stream, direction, bytes } => stretch(stream, direction, false, true, bytes.len() as u64),
            Event::BodyGap { stream, direction, length } => stretch(stream, direction, false, false, length),
            Event::Opaque { stream, direction, bytes } => stretch(stream, direction, true, true, bytes.len() as u64),
            Event::OpaqueGap { stream, direction, length } => stretch(stream, direction, true, false, length),
            Event::Malformed { direction, .. } | Event::DecodingStopped { direction, .. } => {
                Self::Wrong(direction, format!("{event:?}"))
            }
            _ => Self::Other(format!("{event:?}")),
        }
    }
}
