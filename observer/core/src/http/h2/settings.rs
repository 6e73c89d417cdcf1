//! SETTINGS that bind one direction: those that the other side sends (RFC 9113 §6.5).
//!
//! A setting takes effect with its acknowledgement, which comes in the direction that it binds. So bytes sent before and after it
//! can be distinguished exactly.

use std::collections::VecDeque;

use super::hpack;

/// Maximum number of SETTINGS frames that wait for an acknowledgement. Beyond it, the oldest counts as acknowledged.
const MAX_PENDING: usize = 16;

/// The settings that matter to an observer; `None` if a frame does not contain one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// `SETTINGS_HEADER_TABLE_SIZE`.
    table_size: Option<u32>,
    /// `SETTINGS_INITIAL_WINDOW_SIZE`.
    pub(super) initial_window: Option<u32>,
}

impl Change {
    /// Adds one setting (RFC 9113 §6.5.1): of several with one identifier, the last one counts.
    pub(super) fn add(&mut self, setting: [u8; 6]) -> Result<(), &'static str> {
        let [identifier_high, identifier_low, value @ ..] = setting;
        let value = u32::from_be_bytes(value);
        match u16::from_be_bytes([identifier_high, identifier_low]) {
            0x1 => self.table_size = Some(value),
            0x4 if value > i32::MAX.unsigned_abs() => return Err("SETTINGS_INITIAL_WINDOW_SIZE above 2^31-1"),
            0x4 => self.initial_window = Some(value),
            _ => {}
        }
        Ok(())
    }
}

/// The settings that bind one direction.
#[derive(Debug)]
pub(super) struct Settings {
    table_size: u32,
    pending: VecDeque<Change>,
}

impl Settings {
    /// The initial values (RFC 9113 §6.5.2).
    pub(super) fn new() -> Self {
        Self { table_size: hpack::INITIAL_SIZE, pending: VecDeque::new() }
    }

    /// Notes a SETTINGS frame of the other side. If too many wait, returns the oldest change, which then counts as acknowledged.
    pub(super) fn announce(&mut self, change: Change) -> Option<Change> {
        self.pending.push_back(change);
        if self.pending.len() > MAX_PENDING { self.acknowledge() } else { None }
    }

    /// Notes an acknowledgement, and returns the change that takes effect. `None` if the acknowledged frame was not seen.
    pub(super) fn acknowledge(&mut self) -> Option<Change> {
        let change = self.pending.pop_front()?;
        self.table_size = change.table_size.unwrap_or(self.table_size);
        Some(change)
    }

    /// The largest header table that the encoder of this direction may choose. Some encoders apply a setting before they
    /// acknowledge it, so pending ones count.
    pub(super) fn table_limit(&self) -> u32 {
        self.pending.iter().filter_map(|change| change.table_size).fold(self.table_size, u32::max)
    }
}
