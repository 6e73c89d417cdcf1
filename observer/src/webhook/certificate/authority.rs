//! The webhook's certificate authority, as the Secret has it.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use observer_pki::{AuthorityError, PrivateAuthority, StoredAuthorityError};
use rustls_pki_types::CertificateDer;

/// How long a new authority is valid.
const LIFETIME: Duration = Duration::from_hours(10 * 365 * 24);
/// An authority that ends earlier is replaced.
pub(super) const LEAST_REMAINING: Duration = Duration::from_hours(365 * 24);

/// An authority with its key. Copies share it.
#[derive(Clone)]
pub(super) struct Authority(Arc<PrivateAuthority>);

impl Authority {
    /// A new one. Clocks differ, so it is valid for years before `now`, too.
    pub(super) fn generate(now: SystemTime) -> Result<Self, AuthorityError> {
        Ok(Self(Arc::new(PrivateAuthority::generate_for(LIFETIME, now)?)))
    }

    /// Reads a stored one, which has to be usable.
    pub(super) fn read(stored: &[u8], now: SystemTime) -> Result<Self, StoredAuthorityError> {
        Ok(Self(Arc::new(PrivateAuthority::from_pem(stored, now, LEAST_REMAINING)?)))
    }

    /// Whether it may be stored, or stay there.
    pub(super) fn is_usable(&self, now: SystemTime) -> bool {
        self.0.is_valid_for(LEAST_REMAINING, now)
    }

    /// Whether leaf certificates of it are still accepted.
    pub(super) fn is_valid(&self, now: SystemTime) -> bool {
        self.0.is_valid_for(Duration::ZERO, now)
    }

    pub(super) fn certificate(&self) -> &CertificateDer<'static> {
        self.0.certificate()
    }

    /// Certificate and key in PEM: for the Secret, and secret.
    pub(super) fn to_pem(&self) -> String {
        self.0.to_pem()
    }

    pub(super) fn private(&self) -> &PrivateAuthority {
        &self.0
    }
}

impl PartialEq for Authority {
    fn eq(&self, other: &Self) -> bool {
        self.certificate() == other.certificate()
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Authority").finish_non_exhaustive()
    }
}
