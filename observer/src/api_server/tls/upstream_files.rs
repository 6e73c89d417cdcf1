//! The CA and client certificate files for TLS to the API server. They are read again during a run, as client-go does.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::api_server::{ClientCertificate, UpstreamTrust};

/// How long new connections use the contents that were read, before the files are read again: kubernetes/client-go
/// `transport/transport.go`, `cachingCertificateLoader`, v0.37.
const FRESH_FOR: Duration = Duration::from_secs(1);
/// How the API server is trusted, and which certificate is presented to it, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamIdentity {
    /// Which certificates prove that a server is the API server.
    pub trust: UpstreamTrust,
    /// The client certificate that is presented. `None` keeps the previous one, which may have come from an exec plugin.
    pub certificate: Option<ClientCertificate>,
}

/// The result of reading the files of an [`UpstreamIdentity`] again. If one part cannot be read, the other part is still used.
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
    /// Their contents when they were last read.
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

    /// Sets how long new connections use the contents that were read, before the files are read again. The default is 1 s; tests
    /// use less.
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
