//! Reflectors, reconstructed from traffic: which requests belong to one list-and-watch, and why it relisted.
//!
//! Upstream: client-go tools/cache/reflector.go, 1.15 to 1.36. For other libraries, see §6.7 of docs/semantics.md.

mod alarms;
mod at_shutdown;
mod cause;
mod cause_label;
mod clients;
mod counts;
mod events;
mod failure;
mod identity;
mod key_group;
mod limits;
mod listing;
mod lists;
mod moment;
mod naming;
mod pacing;
mod polling;
mod propagation;
mod record;
mod reflectors;
mod servers;
mod spells;
mod stalls;
mod state;
mod state_by_watch;
mod versions;
mod watch_end;
mod watches;
mod watching;

pub use at_shutdown::AtShutdown;
pub use cause::{RelistCause, Stale, UnknownCause};
pub use cause_label::cause_label;
pub use clients::ClientId;
pub use events::{ListEvent, ReflectorEvent, RelistBegan, ResumeEvent, StallEvent, StuckEvent};
pub use identity::{ReflectorId, Representation};
pub use limits::ReflectorLimits;
pub use moment::{Happened, Moment};
pub use pacing::RateLimit;
pub use polling::{Polling, PollingKind};
pub use propagation::PropagationRow;
pub use record::{ReflectorRow, ReflectorState};
pub use reflectors::{Reflectors, ReflectorsMissed};
pub use spells::{Spell, Trouble};
pub use state::{ClientAge, ListsFrom};
pub use versions::Repeats;
pub use watch_end::WatchEnd;
