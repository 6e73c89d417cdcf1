//! When an event happened. For a request, a list or a storm, this is the moment at which it was over, and not its begin.

use std::time::Duration;

use observer_core::observer::Event;
use observer_core::time::Timestamp;

/// When `event` happened, in nanoseconds since the Unix epoch, by the wall clock of that moment.
pub(super) fn nanoseconds(event: &Event) -> u64 {
    nanoseconds_at(time(event))
}

/// A point in time in the same form.
pub(super) fn nanoseconds_at(time: Timestamp) -> u64 {
    time.as_nanos().saturating_add_signed(time.wall_ahead())
}

fn time(event: &Event) -> Timestamp {
    let after = |at: Timestamp, microseconds: Option<u64>| at.plus(Duration::from_micros(microseconds.unwrap_or_default()));
    match event {
        Event::Request { record } => after(record.at, record.total_us),
        Event::WatchOpened { record } => after(record.at, record.first_byte_us),
        Event::WatchEnded { ended_at, .. } => *ended_at,
        Event::InitialList { list } | Event::Relist { list } => list.ended_at,
        Event::RelistBegan { began } => began.at,
        Event::Resume { resume } => resume.at,
        Event::Stuck { stuck } => stuck.at,
        Event::Stalled { stall } | Event::StallEnded { stall } => stall.at,
        Event::TroubleBegan { trouble } | Event::TroubleEnded { trouble } => trouble.at,
        Event::StormBegan { record } => record.named,
        Event::StormEnded { record } => record.ended.unwrap_or(record.last),
        Event::Profile { at, .. }
        | Event::ConnectionOpened { at, .. }
        | Event::ConnectionClosed { at, .. }
        | Event::GoAway { at, .. }
        | Event::Contradicted { at, .. }
        | Event::Upgraded { at, .. }
        | Event::Missed { at, .. }
        | Event::Malformed { at, .. }
        | Event::DecodingStopped { at, .. }
        | Event::DecoderFailed { at, .. }
        | Event::Listener { at, .. }
        | Event::ConnectFailed { at, .. }
        | Event::NotProbed { at, .. }
        | Event::Fault { at, .. }
        | Event::CaptureEnded { at, .. }
        | Event::Unrecorded { at, .. } => *at,
    }
}
