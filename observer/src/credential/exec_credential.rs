//! What an exec plug-in prints.

use std::fmt;

use serde_json::{Map, Value};

/// The output of a plug-in that yields a client certificate. `Debug` shows nothing of it.
#[derive(Clone, PartialEq)]
pub struct ExecCredential {
    document: Map<String, Value>,
    certificate_pem: String,
    key_pem: String,
}

const STATUS: &str = "status";
const CERTIFICATE: &str = "clientCertificateData";
const KEY: &str = "clientKeyData";

impl ExecCredential {
    /// Reads the output; `None` unless both a certificate and its key are in it. What is then wrong with it, if anything, is the client's to
    /// say: it gets the output as it is. JSON is meant, and client-go reads YAML as well.
    pub fn with_certificate(output: &[u8]) -> Option<Self> {
        let document = match serde_json::from_slice(output) {
            Ok(Value::Object(document)) => document,
            Ok(_) => return None,
            Err(_) => serde_saphyr::from_str(std::str::from_utf8(output).ok()?).ok()?,
        };
        let status = document.get(STATUS)?.as_object()?;
        let text = |field: &str| status.get(field)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let (certificate_pem, key_pem) = (text(CERTIFICATE)?, text(KEY)?);
        Some(Self { document, certificate_pem, key_pem })
    }

    /// The certificate, and those that it is signed by, as PEM text.
    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// The private key, as PEM text.
    pub fn key_pem(&self) -> &str {
        &self.key_pem
    }

    /// The same document with another certificate and key; all else, `expirationTimestamp` and a token, stays.
    pub fn replace(mut self, certificate_pem: &str, key_pem: &str) -> String {
        if let Some(status) = self.document.get_mut(STATUS).and_then(Value::as_object_mut) {
            status.insert(CERTIFICATE.to_owned(), Value::from(certificate_pem));
            status.insert(KEY.to_owned(), Value::from(key_pem));
        }
        format!("{}\n", Value::Object(self.document))
    }
}

impl fmt::Debug for ExecCredential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ExecCredential").finish_non_exhaustive()
    }
}
