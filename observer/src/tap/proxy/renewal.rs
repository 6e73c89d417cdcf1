//! Rereads the files of the trusted CA and of the user's certificate during a run, as client-go does, since they may be renewed.
//!
//! The proxy's clients cannot do that: their kubeconfig is a copy with certificates of watchtap's own CA. The proxy uses the user's
//! files upstream.

use std::error::Error;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, timeout};

use super::shared::Shared;
use crate::api_server::{UpstreamFiles, UpstreamIdentity, UpstreamReading};

/// How long a client waits for the file system. After that, it is connected with the certificates read before.
const READ_WITHIN: Duration = Duration::from_millis(250);
/// How often the files are read without new connections, as in kubernetes/client-go `transport/cert_rotation.go`,
/// `CertCallbackRefreshDuration`, v0.37.
pub(super) const READ_AGAIN: Duration = Duration::from_mins(5);

/// The certificate files of a running listener.
#[derive(Debug)]
pub(super) struct Renewal(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    files: UpstreamFiles,
    read_at: Option<Instant>,
    /// Why the last reading failed; logged once.
    fault: Option<String>,
}

impl Renewal {
    pub(super) fn new(files: UpstreamFiles) -> Self {
        Self(Arc::new(Mutex::new(State { files, read_at: None, fault: None })))
    }

    /// Reads the files unless they were read a moment ago, and updates `shared`'s upstream half of TLS if they have changed.
    /// Returns early if the file system takes too long; the reading then continues in the background.
    pub(super) async fn renew(&self, shared: &Arc<Shared>) {
        let renewed = async {
            let state = Arc::clone(&self.0).lock_owned().await;
            if state.read_at.is_none_or(|at| at.elapsed() >= state.files.fresh_for) {
                // A file system may hang. The task that waits for it holds no part of the listener, so it cannot delay the end of a
                // run.
                tokio::spawn(read(state, Arc::downgrade(shared))).await.ok();
            }
        };
        timeout(READ_WITHIN, renewed).await.ok();
    }
}

async fn read(mut state: OwnedMutexGuard<State>, shared: Weak<Shared>) {
    let read = Arc::clone(&state.files.read);
    let reading = tokio::task::spawn_blocking(move || read()).await;
    state.read_at = Some(Instant::now());
    if let (Ok(reading), Some(shared)) = (reading, shared.upgrade()) {
        state.take(reading, &shared);
    }
}

impl State {
    fn take(&mut self, reading: UpstreamReading, shared: &Shared) {
        let UpstreamReading { trust, certificate } = reading;
        let held = self.files.held.clone();
        let mut faults = Vec::new();
        let mut read_or = |fault: Box<dyn Error + Send + Sync>| faults.push(fault.to_string());
        let trust = trust.unwrap_or_else(|fault| {
            read_or(fault);
            held.trust
        });
        let certificate = certificate.unwrap_or_else(|fault| {
            read_or(fault);
            held.certificate
        });
        let identity = UpstreamIdentity { trust, certificate };
        if identity != self.files.held {
            match shared.renew_by(&identity, identity.certificate != self.files.held.certificate) {
                Ok(()) => {
                    tracing::info!(listener = %shared.address, "the certificates for the API server have changed; new connections use them");
                    self.files.held = identity;
                }
                Err(error) => faults.push(error.to_string()),
            }
        }
        let fault = (!faults.is_empty()).then(|| faults.join("; "));
        if let Some(fault) = fault.as_deref().filter(|fault| self.fault.as_deref() != Some(*fault)) {
            tracing::warn!(
                listener = %shared.address,
                "cannot reread the certificates for the API server: {fault}. Connections use the previous ones; the files are read \
                 again for the next client"
            );
        }
        self.fault = fault;
    }
}
