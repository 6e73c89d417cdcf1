//! Reads a stored certificate authority back, and checks that it can still be used.
//!
//! The signature of its certificate is not checked: verifiers do not check that of a trust anchor either (RFC 5280, section 6.1.1).

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
        let [start, end] = [validity.not_before, validity.not_after].map(|time| {
            // Times before 1970 are none that watchtap writes.
            UNIX_EPOCH + Duration::from_secs(u64::try_from(time.timestamp()).unwrap_or_default())
        });
        Ok(Self::of(certificate, key, start..end)?)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::RootCertStore;
    use rustls::client::WebPkiServerVerifier;
    use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
    use rustls::crypto::aws_lc_rs;
    use rustls_pki_types::{ServerName, UnixTime};
    use x509_parser::extensions::ParsedExtension;

    use super::*;
    use crate::ServerIdentity;

    const DAY: Duration = Duration::from_hours(24);
    const YEARS: Duration = Duration::from_hours(10 * 365 * 24);
    /// The authority that a sidecar stored on 2026-11-26. Pods keep theirs for as long as they live.
    const FORMER: &str = include_str!("stored_2026_11.pem");
    /// That day, in seconds since 1970.
    const FORMER_DAY: Duration = Duration::from_secs(1_795_700_000);

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
    fn certificate_of_a_stored_authority_has_no_part_of_its_key_in_any_order() {
        let now = SystemTime::now();
        let authority = PrivateAuthority::generate_for(YEARS, now).unwrap();
        let certificate = authority.certificate_pem();
        let key = authority.to_pem().replace(&certificate, "");
        let stored = read(&format!("a comment\n{key}{certificate}"), now).unwrap();
        assert_eq!((stored.certificate_pem(), stored.to_pem()), (certificate, authority.to_pem()));
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

    #[test]
    fn certificates_are_valid_for_clients_and_restarts_whose_clock_is_an_hour_off() {
        const HOUR: Duration = Duration::from_hours(1);
        let now = SystemTime::now();
        let clocks = [now - HOUR, now, now + HOUR];
        for made in clocks {
            let pem = PrivateAuthority::generate_for(YEARS, made).unwrap().to_pem();
            for restarted in clocks {
                let issued = read(&pem, restarted).unwrap().issue_server(&[], restarted).unwrap();
                for client in clocks {
                    verify(&pem, &issued, client);
                }
            }
        }
    }

    #[test]
    fn certificate_for_given_names_has_these_names_and_this_end_alone() {
        const HOUR: Duration = Duration::from_hours(1);
        let now = SystemTime::now();
        let authority = PrivateAuthority::generate_for(YEARS, now).unwrap();
        let names = ["watchtap.system.svc", "watchtap"].map(|name| ServerName::try_from(name).unwrap());
        let issued = authority.issue_server_for(&names, now, 30 * DAY).unwrap();
        let (_, leaf) = X509Certificate::from_der(&issued.certificate).unwrap();
        let alternative = leaf.subject_alternative_name().unwrap().unwrap();
        let found: Vec<_> = alternative.value.general_names.iter().map(ToString::to_string).collect();
        assert_eq!(found, ["DNSName(watchtap.system.svc)", "DNSName(watchtap)"]);
        assert_eq!(leaf.validity().not_after.timestamp(), seconds(now + 30 * DAY));
        for (name, clock, is_valid) in [
            ("watchtap.system.svc", now - HOUR, true),
            ("watchtap", now + HOUR, true),
            ("watchtap", now + 31 * DAY, false),
            ("127.0.0.1", now, false),
        ] {
            assert_eq!(verdict(&authority.certificate_pem(), &issued, name, clock).is_ok(), is_valid, "{name}");
        }
    }

    #[test]
    fn authority_is_valid_for_as_long_as_it_was_made() {
        let now = SystemTime::now();
        let made = PrivateAuthority::generate_for(YEARS, now).unwrap();
        for authority in [read(&made.to_pem(), now).unwrap(), made] {
            for (least, at, is_valid) in
                [(DAY, now, true), (YEARS.saturating_sub(DAY), now, true), (YEARS + DAY, now, false), (DAY, now + YEARS, false)]
            {
                assert_eq!(authority.is_valid_for(least, at), is_valid, "{least:?}");
            }
            assert!(!authority.is_valid_for(DAY, now - 2 * YEARS));
        }
    }

    #[test]
    fn authority_that_a_former_version_stored_is_found_by_its_identifier() {
        let day = UNIX_EPOCH + FORMER_DAY;
        let authority = read(FORMER, day).unwrap();
        assert_eq!(authority.to_pem(), FORMER);
        let issued = authority.issue_server(&[], day).unwrap();
        verify(FORMER, &issued, day);
        // OpenSSL finds a certificate's issuer by this identifier, not by its subject alone.
        let (own, of_issuer) = (identifiers(&certificate(FORMER)), identifiers(&issued.certificate));
        assert!(own.subject.is_some());
        assert_eq!(of_issuer.authority, own.subject);
    }

    /// Verifies a chain as a client with this clock does that trusts the authority alone.
    #[track_caller]
    fn verify(authority: &str, server: &ServerIdentity, clock: SystemTime) {
        verdict(authority, server, "127.0.0.1", clock).unwrap();
    }

    fn verdict(
        authority: &str,
        server: &ServerIdentity,
        name: &str,
        clock: SystemTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let mut roots = RootCertStore::empty();
        roots.add(certificate(authority)).unwrap();
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::new(aws_lc_rs::default_provider()));
        let clock = UnixTime::since_unix_epoch(clock.duration_since(UNIX_EPOCH).unwrap());
        let name = ServerName::try_from(name).unwrap();
        verifier.build().unwrap().verify_server_cert(&server.certificate, &[], &name, &[], clock)
    }

    fn certificate(pem: &str) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
    }

    /// The identifiers of a certificate's own key and of its issuer's key.
    #[derive(Default)]
    struct Identifiers {
        subject: Option<Vec<u8>>,
        authority: Option<Vec<u8>>,
    }

    fn identifiers(certificate: &CertificateDer<'_>) -> Identifiers {
        let (_, parsed) = X509Certificate::from_der(certificate).unwrap();
        let mut found = Identifiers::default();
        for extension in parsed.extensions() {
            let parsed = extension.parsed_extension();
            if let ParsedExtension::SubjectKeyIdentifier(identifier) = parsed {
                found.subject = Some(identifier.0.to_vec());
            }
            if let ParsedExtension::AuthorityKeyIdentifier(of) = parsed {
                found.authority = of.key_identifier.as_ref().map(|id| id.0.to_vec());
            }
        }
        found
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
