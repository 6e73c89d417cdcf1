//! Work beside a measurement.

use std::thread::{Builder, JoinHandle};

use anyhow::Result;
use tokio::sync::oneshot;

/// A future that runs on a thread of its own, until this is dropped.
pub(super) struct Background {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    pub(super) fn run<F: Future + Send + 'static>(name: &str, work: F) -> Result<Self> {
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = Builder::new().name(name.to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ended = work => {}
                    _stopped = stopped => {}
                }
            });
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // Work that panics ends its thread; the measurement is only less disturbed.
            thread.join().ok();
        }
    }
}
