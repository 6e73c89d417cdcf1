//! One request and its response, put together from observations.

mod lifecycle;
mod watch;

pub use lifecycle::Exchange;
pub use watch::WatchStream;
