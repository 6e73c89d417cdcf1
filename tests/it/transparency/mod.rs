//! Traffic as clients and API servers have it: the same bytes at both ends, and what the report says of them.

mod control_frames;
mod messages;
mod sizes;
mod upgrades;
mod watch_events;
mod watches;
