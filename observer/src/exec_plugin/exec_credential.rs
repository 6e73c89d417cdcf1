//! The output of an exec plugin.

use std::fmt;

use serde_json::{Map, Value};

/// The output of a plugin that returns a client certificate. `Debug` shows no part of it.
#[derive(Clone, PartialEq)]
pub(crate) struct ExecCredential {
    document: Map<String, Value>,
    certificate_pem: String,
    key_pem: String,
}

const STATUS: &str = "status";
const CERTIFICATE: &str = "clientCertificateData";
const KEY: &str = "clientKeyData";

/// Parses a plugin's output: JSON, or YAML, which client-go also reads.
pub(super) fn document(output: &[u8]) -> Option<Map<String, Value>> {
    match serde_json::from_slice(output) {
        Ok(Value::Object(document)) => Some(document),
        Ok(_) => None,
        Err(_) => serde_saphyr::from_str(std::str::from_utf8(output).ok()?).ok(),
    }
}

/// The client certificate and its key, as PEM text.
pub(super) fn certificate(document: &Map<String, Value>) -> Option<(String, String)> {
    status_text(document, CERTIFICATE).zip(status_text(document, KEY))
}

/// A text field of `status`, unless it is empty.
pub(super) fn status_text(document: &Map<String, Value>, field: &str) -> Option<String> {
    document.get(STATUS)?.as_object()?.get(field)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

impl ExecCredential {
    /// Parses the output. Returns `None` unless it contains both a certificate and its key. The client then gets the output
    /// unchanged, and reports any fault in it itself.
    pub(crate) fn with_certificate(output: &[u8]) -> Option<Self> {
        let document = document(output)?;
        let (certificate_pem, key_pem) = certificate(&document)?;
        Some(Self { document, certificate_pem, key_pem })
    }

    /// The certificate and its issuers' certificates, as PEM text.
    pub(crate) fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// The private key, as PEM text.
    pub(crate) fn key_pem(&self) -> &str {
        &self.key_pem
    }

    /// The same document with another certificate and key. Everything else stays, such as `expirationTimestamp` and a token.
    pub(crate) fn replace(mut self, certificate_pem: &str, key_pem: &str) -> String {
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
