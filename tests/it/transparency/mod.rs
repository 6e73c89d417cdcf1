//! Tests with the traffic of typical clients and API servers: the bytes are the same at both ends, and the report is correct.

mod control_frames;
mod messages;
mod sizes;
mod upgrades;
mod watch_events;
mod watches;
