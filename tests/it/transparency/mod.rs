//! Traffic of typical clients and API servers: the same bytes at both ends, and the right report.

mod control_frames;
mod messages;
mod sizes;
mod upgrades;
mod watch_events;
mod watches;
