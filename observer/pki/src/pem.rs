//! Writes certificates in PEM.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Characters of base64 before each line break (RFC 7468, section 2).
const LINE_LENGTH: usize = 64;

/// A DER certificate in PEM, and nothing else.
pub fn certificate_pem(certificate: &[u8]) -> String {
    let encoded = STANDARD.encode(certificate);
    let mut text = "-----BEGIN CERTIFICATE-----\n".to_owned();
    for (at, character) in encoded.chars().enumerate() {
        if at > 0 && at.is_multiple_of(LINE_LENGTH) {
            text.push('\n');
        }
        text.push(character);
    }
    text + "\n-----END CERTIFICATE-----\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificate_is_written_as_the_library_writes_it() {
        let key = rcgen::KeyPair::generate().unwrap();
        for name in ["z", "a", "ab", "a.name.of.another.length.example"] {
            let params = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
            let certificate = params.self_signed(&key).unwrap();
            assert_eq!(certificate_pem(certificate.der()), certificate.pem());
        }
    }
}
