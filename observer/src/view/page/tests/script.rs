//! Snapshots after scripts of traffic, in the language of `observer_script`.

use std::sync::Arc;

use observer_core::observer::{Limits, Observer, Snapshot};
use observer_script::observations;

/// The snapshot after all of `script`.
pub(in crate::view) fn play(script: &str) -> Arc<Snapshot> {
    let mut observer = Observer::new(Limits::default());
    for observation in observations(script) {
        observer.observe(observation, &mut |_| {});
    }
    Arc::new(observer.snapshot())
}
