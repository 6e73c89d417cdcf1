//! Flow-control windows (RFC 9113 §5.2 and §6.9).
//!
//! A window is the number of bytes of DATA payload that one direction may still send. The other side grants them. A `WINDOW_UPDATE`
//! counts as soon as it passes, although its receiver gets it later.

use super::super::Direction;
use super::per_direction::PerDirection;

/// The initial window of a connection, and of a stream until SETTINGS change it, in bytes.
const DEFAULT_WINDOW: i64 = 65_535;

/// The windows of a connection, by the direction of the DATA.
#[derive(Debug)]
pub(super) struct Flow {
    connection: PerDirection<i64>,
    initial: PerDirection<i64>,
    reported: PerDirection<bool>,
}

/// The difference between one stream's windows and the initial window: bytes granted minus bytes sent, by the direction of the
/// DATA.
///
/// So a change of `SETTINGS_INITIAL_WINDOW_SIZE` changes all streams at once (RFC 9113 §6.9.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StreamFlow {
    over: PerDirection<i64>,
    reported: PerDirection<bool>,
}

impl Flow {
    pub(super) fn new() -> Self {
        let default = PerDirection { request: DEFAULT_WINDOW, response: DEFAULT_WINDOW };
        Self { connection: default, initial: default, reported: PerDirection::default() }
    }

    /// The window of the connection.
    pub(super) fn connection(&self, direction: Direction) -> i64 {
        *self.connection.of(direction)
    }

    /// The window of a stream; negative after a reduction of the initial window.
    pub(super) fn stream(&self, direction: Direction, stream: &StreamFlow) -> i64 {
        self.initial.of(direction).saturating_add(*stream.over.of(direction))
    }

    /// Whether the window of the connection is used up; `None` if that has not changed since the last call.
    pub(super) fn connection_change(&mut self, direction: Direction) -> Option<bool> {
        let used_up = self.connection(direction) <= 0;
        change(self.reported.of_mut(direction), used_up)
    }

    /// Whether the window of a stream is used up; `None` if that has not changed since the last call.
    pub(super) fn stream_change(&self, direction: Direction, stream: &mut StreamFlow) -> Option<bool> {
        let used_up = self.stream(direction, stream) <= 0;
        change(stream.reported.of_mut(direction), used_up)
    }

    /// Whether the window of the connection was last reported as used up.
    pub(super) fn is_reported(&self, direction: Direction) -> bool {
        *self.reported.of(direction)
    }

    /// Notes DATA payload that was sent in `direction`, padding included.
    pub(super) fn sent(&mut self, direction: Direction, length: u32) {
        let window = self.connection.of_mut(direction);
        *window = window.saturating_sub(i64::from(length));
    }

    /// Notes a `WINDOW_UPDATE` of the connection that lets `direction` send more.
    pub(super) fn granted(&mut self, direction: Direction, increment: u32) {
        let window = self.connection.of_mut(direction);
        *window = window.saturating_add(i64::from(increment));
    }

    /// Changes the initial window of the streams.
    pub(super) fn set_initial(&mut self, direction: Direction, window: u32) {
        *self.initial.of_mut(direction) = i64::from(window);
    }
}

impl StreamFlow {
    /// Whether the window was last reported as used up.
    pub(super) fn is_reported(&self, direction: Direction) -> bool {
        *self.reported.of(direction)
    }

    /// Notes DATA payload that was sent on the stream.
    pub(super) fn sent(&mut self, direction: Direction, length: u32) {
        let window = self.over.of_mut(direction);
        *window = window.saturating_sub(i64::from(length));
    }

    /// Notes a `WINDOW_UPDATE` of the stream.
    pub(super) fn granted(&mut self, direction: Direction, increment: u32) {
        let window = self.over.of_mut(direction);
        *window = window.saturating_add(i64::from(increment));
    }
}

fn change(reported: &mut bool, used_up: bool) -> Option<bool> {
    (std::mem::replace(reported, used_up) != used_up).then_some(used_up)
}
