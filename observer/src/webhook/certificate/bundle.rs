//! `caBundle`: the certificates with which the API server verifies the webhook.

use observer_pki::certificate_pem;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;

/// Maximum number of certificates that are kept of a bundle. More than two come from a fault.
const MAX_CERTIFICATES: usize = 8;

/// Different certificates, the most important first.
#[derive(Clone, Debug, Default)]
pub(super) struct Bundle(Vec<CertificateDer<'static>>);

impl Bundle {
    /// The certificates in the PEM text of a `caBundle`; anything else in it is left out.
    pub(super) fn of_pem(pem: &[u8]) -> Self {
        CertificateDer::pem_slice_iter(pem).filter_map(Result::ok).collect()
    }

    pub(super) fn contains(&self, certificate: &CertificateDer<'_>) -> bool {
        self.0.contains(certificate)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &CertificateDer<'static>> {
        self.0.iter()
    }

    /// Whether both have the same certificates. Their order has no effect, and replicas may differ in it.
    pub(super) fn has_same(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.iter().all(|certificate| other.contains(certificate))
    }

    /// The bundle in PEM, as `caBundle` has it before base64.
    pub(super) fn to_pem(&self) -> String {
        self.iter().map(|certificate| certificate_pem(certificate)).collect()
    }
}

impl FromIterator<CertificateDer<'static>> for Bundle {
    fn from_iter<I: IntoIterator<Item = CertificateDer<'static>>>(certificates: I) -> Self {
        let mut bundle = Self::default();
        for certificate in certificates {
            if bundle.0.len() < MAX_CERTIFICATES && !bundle.contains(&certificate) {
                bundle.0.push(certificate);
            }
        }
        bundle
    }
}

#[cfg(test)]
mod tests {
    use observer_pki::PrivateAuthority;

    use super::*;

    fn certificates(count: usize) -> Vec<CertificateDer<'static>> {
        (0..count).map(|_| PrivateAuthority::generate().unwrap().certificate().clone()).collect()
    }

    #[test]
    fn bundle_is_read_back_as_it_was_written() {
        let some: Bundle = certificates(3).into_iter().collect();
        let again = Bundle::of_pem(some.to_pem().as_bytes());
        assert_eq!(again.0, some.0);
    }

    #[test]
    fn order_and_repetition_make_no_difference() {
        let some = certificates(2);
        let one: Bundle = some.iter().cloned().collect();
        let other: Bundle = some.iter().rev().chain(&some).cloned().collect();
        assert!(one.has_same(&other) && other.has_same(&one));
        let fewer: Bundle = some.into_iter().take(1).collect();
        assert!(!one.has_same(&fewer) && !fewer.has_same(&one));
        assert!(!fewer.has_same(&certificates(1).into_iter().collect()));
    }

    #[test]
    fn anything_but_certificates_is_left_out_and_their_number_has_a_bound() {
        let one: Bundle = certificates(1).into_iter().collect();
        for text in ["", "no PEM", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n", "-----BEGIN CERTIFICATE-----\n"] {
            assert!(Bundle::of_pem(text.as_bytes()).0.is_empty(), "{text}");
            assert!(Bundle::of_pem(format!("{}{text}", one.to_pem()).as_bytes()).has_same(&one), "{text}");
        }
        let many: Bundle = certificates(MAX_CERTIFICATES + 1).into_iter().collect();
        assert_eq!(many.0.len(), MAX_CERTIFICATES);
    }
}
