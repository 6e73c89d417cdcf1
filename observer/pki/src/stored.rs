//! Reads a stored certificate authority back, and checks that it can still be used.
//!
//! The signature of its certificate is not checked: whoever trusts a certificate authority does not check that either (RFC 5280,
//! section 6.1.1).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{KeyPair, PublicKeyData};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;

use crate::authority::{AuthorityError, PrivateAuthority, SUBJECT};

/// Why a stored authority cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoredAuthorityError {
    /// It has no certificate in PEM.
    #[error("it contains no certificate")]
    NoCertificate,
    /// It has no private key in PEM.
    #[error("it contains no usable private key")]
    NoKey,
    /// The certificate is malformed, or watchtap did not make it.
    #[error("its certificate is not one of watchtap's own")]
    NotOurs,
    /// The key belongs to another certificate.
    #[error("its key belongs to another certificate")]
    KeyOfAnotherCertificate,
    /// The certificate is not valid now, or not for much longer.
    #[error("its certificate is not valid for at least {} more days", .least.as_secs() / (24 * 60 * 60))]
    NotValid {
        /// How long it has to be valid.
        least: Duration,
    },
    /// The cryptographic library failed.
    #[error(transparent)]
    Library(#[from] AuthorityError),
}

impl PrivateAuthority {
    /// Reads what [`Self::to_pem`] returned. Its certificate has to be valid from `now` on for at least `least`.
    pub fn from_pem(pem: &[u8], now: SystemTime, least: Duration) -> Result<Self, StoredAuthorityError> {
        let certificate = CertificateDer::from_pem_slice(pem).map_err(|_error| StoredAuthorityError::NoCertificate)?;
        let key = PrivateKeyDer::from_pem_slice(pem).map_err(|_error| StoredAuthorityError::NoKey)?;
        let key = KeyPair::try_from(&key).map_err(|_error| StoredAuthorityError::NoKey)?;
        let (_, parsed) = X509Certificate::from_der(&certificate).map_err(|_error| StoredAuthorityError::NotOurs)?;
        let subject = parsed.subject().iter_common_name().next().and_then(|name| name.as_str().ok());
        if subject != Some(SUBJECT) || parsed.issuer() != parsed.subject() || !parsed.is_ca() {
            return Err(StoredAuthorityError::NotOurs);
        }
        if parsed.public_key().raw != key.subject_public_key_info() {
            return Err(StoredAuthorityError::KeyOfAnotherCertificate);
        }
        let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).ok().and_then(|time| i64::try_from(time.as_secs()).ok());
        let (Some(now), Some(end)) = (seconds(now), seconds(now + least)) else {
            return Err(StoredAuthorityError::NotValid { least });
        };
        let validity = parsed.validity();
        if validity.not_before.timestamp() > now || validity.not_after.timestamp() < end {
            return Err(StoredAuthorityError::NotValid { least });
        }
        let not_before = u64::try_from(validity.not_before.timestamp()).unwrap_or_default();
        let not_before = UNIX_EPOCH + Duration::from_secs(not_before);
        let own = certificate_pem(pem).ok_or(StoredAuthorityError::NoCertificate)?;
        Ok(Self::of(certificate, own, key, not_before)?)
    }
}

/// The part of `pem` with the certificate, which [`PrivateAuthority::to_pem`] puts first.
fn certificate_pem(pem: &[u8]) -> Option<String> {
    const END: &str = "-----END CERTIFICATE-----";
    let text = std::str::from_utf8(pem).ok()?;
    let (certificate, _key) = text.split_once(END)?;
    Some(format!("{certificate}{END}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);
    const YEARS: Duration = Duration::from_hours(10 * 365 * 24);

    fn read(pem: &str, now: SystemTime) -> Result<PrivateAuthority, StoredAuthorityError> {
        PrivateAuthority::from_pem(pem.as_bytes(), now, DAY)
    }

    #[test]
    fn authority_that_was_read_back_is_the_same() {
        let now = SystemTime::now();
        let authority = PrivateAuthority::generate_for(YEARS, now).unwrap();
        let again = read(&authority.to_pem(), now).unwrap();
        assert_eq!((again.certificate_pem(), again.to_pem()), (authority.certificate_pem(), authority.to_pem()));
        // A certificate of the second is one of the first.
        let issued = again.issue_server(&[], now).unwrap();
        let (_, leaf) = X509Certificate::from_der(&issued.certificate).unwrap();
        let (_, pem) = x509_parser::pem::parse_x509_pem(authority.certificate_pem().as_bytes()).unwrap();
        assert_eq!(leaf.issuer(), pem.parse_x509().unwrap().subject());
    }

    #[test]
    fn authority_is_kept_while_its_certificate_is_valid() {
        let now = SystemTime::now();
        let pem = PrivateAuthority::generate_for(YEARS, now).unwrap().to_pem();
        for valid in [now - YEARS + DAY, now - DAY, now + Duration::from_hours(1), now + YEARS - 2 * DAY] {
            read(&pem, valid).unwrap();
        }
        for (invalid, why) in [(now - YEARS - DAY, "not yet"), (now + YEARS, "over"), (now + YEARS - DAY / 2, "soon over")] {
            let error = read(&pem, invalid).unwrap_err();
            assert!(matches!(error, StoredAuthorityError::NotValid { .. }), "{why}: {error}");
        }
    }

    #[test]
    fn certificates_are_valid_although_the_clock_was_years_ahead_at_first() {
        let [now, wrong] = [SystemTime::now(), SystemTime::now() + YEARS / 2];
        let made = PrivateAuthority::generate_for(YEARS, wrong).unwrap();
        let read_back = read(&made.to_pem(), now).unwrap();
        for authority in [made, read_back] {
            for issued_at in [wrong, now] {
                let issued = authority.issue_server(&[], issued_at).unwrap();
                assert!(issued.valid.contains(&issued_at));
                let (_, leaf) = X509Certificate::from_der(&issued.certificate).unwrap();
                assert!(leaf.validity().not_before.timestamp() < seconds(now - 4 * 365 * DAY));
                assert!(leaf.validity().not_after.timestamp() > seconds(now + 365 * DAY));
            }
        }
    }

    fn seconds(time: SystemTime) -> i64 {
        time.duration_since(UNIX_EPOCH).unwrap().as_secs().try_into().unwrap()
    }

    #[test]
    fn stored_text_that_is_no_authority_of_ours_is_refused() {
        let now = SystemTime::now();
        let [one, other] = [(), ()].map(|()| PrivateAuthority::generate_for(YEARS, now).unwrap());
        let key = |authority: &PrivateAuthority| authority.to_pem().replace(&authority.certificate_pem(), "");
        let foreign = KeyPair::generate().unwrap();
        let foreign = rcgen::CertificateParams::default().self_signed(&foreign).unwrap().pem() + &foreign.serialize_pem();
        for (pem, expected) in [
            (String::new(), "no certificate"),
            (key(&one), "no certificate"),
            (one.certificate_pem(), "no usable private key"),
            (one.certificate_pem() + &key(&other), "key belongs to another certificate"),
            (foreign, "not one of watchtap's own"),
            (one.to_pem().replace("MII", "AAA"), "watchtap's own"),
        ] {
            let error = read(&pem, now).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
