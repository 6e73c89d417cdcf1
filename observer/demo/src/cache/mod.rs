//! Watch caches, and the rules by which they or the store answer.

mod layer;
#[cfg(test)]
mod tests;
mod watch_cache;
mod window;

pub(crate) use layer::{CacheState, GetLayer, ListLayer, of_get, of_list};
pub(crate) use watch_cache::WatchCache;
