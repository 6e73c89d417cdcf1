//! The files that the upstream half of TLS comes from. They are read again during a run, as client-go does.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::api_server::{ClientCertificate, UpstreamTrust};

/// How long a reading serves new connections: kubernetes/client-go `transport/transport.go`, `cachingCertificateLoader`, v0.37.
const FRESH_FOR: Duration = Duration::from_secs(1);
/// How the API server is trusted, and which certificate is presented to it, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamIdentity {
    /// Which certificates prove that a server is the API server.
    pub trust: UpstreamTrust,
    /// The certificate that is presented. `None` keeps the previous one, which may have come from a plugin.
    pub certificate: Option<ClientCertificate>,
}

/// The current contents of the files of an [`UpstreamIdentity`]. A part that cannot be read has its error, and the other part still
/// applies.
#[derive(Debug)]
pub struct UpstreamReading {
    /// As [`UpstreamIdentity::trust`].
    pub trust: Result<UpstreamTrust, Box<dyn Error + Send + Sync>>,
    /// As [`UpstreamIdentity::certificate`].
    pub certificate: Result<Option<ClientCertificate>, Box<dyn Error + Send + Sync>>,
}

pub(crate) type Read = dyn Fn() -> UpstreamReading + Send + Sync;

/// The files that an [`UpstreamIdentity`] is read from.
#[derive(Clone)]
pub struct UpstreamFiles {
    /// Their contents at the last reading.
    pub(crate) held: UpstreamIdentity,
    pub(crate) read: Arc<Read>,
    pub(crate) fresh_for: Duration,
}

impl UpstreamFiles {
    /// `held` is the proxy's initial identity; `read` returns the current contents of the files. `read` may block, and is called on
    /// a blocking thread.
    pub fn new(held: UpstreamIdentity, read: impl Fn() -> UpstreamReading + Send + Sync + 'static) -> Self {
        Self { held, read: Arc::new(read), fresh_for: FRESH_FOR }
    }

    /// Sets how long a reading serves new connections; 1 s unless a test needs less.
    #[must_use]
    pub fn fresh_for(self, fresh_for: Duration) -> Self {
        Self { fresh_for, ..self }
    }
}

impl fmt::Debug for UpstreamFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("UpstreamFiles").field("held", &self.held).finish_non_exhaustive()
    }
}
