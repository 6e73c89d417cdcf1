//! Loads certificates and keys that a kubeconfig contains as base64 data, or names as files.

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use super::document;
use super::error::{Error, Location};
use super::section::Entry;
use crate::bounded_file;

/// PEM text and its origin.
pub(super) struct Loaded {
    pub(super) pem: Vec<u8>,
    /// The file; `None` if the text was in the kubeconfig itself.
    pub(super) path: Option<PathBuf>,
    location: Location,
}

/// Returns the data of the field `NAME-data`, otherwise the contents of the file in the field `NAME`, or `None` if neither is set.
pub(super) fn load(entry: &Entry, name: &str) -> Result<Option<Loaded>, Error> {
    let data_field = format!("{name}-data");
    if let Some(data) = entry.text(&data_field) {
        let location = entry.location.child(&data_field);
        let pem = decode(data).ok_or_else(|| Error::Base64 { location: location.clone() })?;
        return Ok(Some(Loaded { pem, path: None, location }));
    }
    let Some(path) = entry.text(name).map(PathBuf::from) else { return Ok(None) };
    let location = entry.location.child(name);
    match bounded_file::read(&path, document::MAX_BYTES) {
        Ok(pem) => Ok(Some(Loaded { pem, path: Some(path), location })),
        Err(source) => Err(Error::UnreadableFile { location, path, source }),
    }
}

/// Whether [`load`] reads the file in the field `name`, and not the field `NAME-data`.
pub(super) fn is_in_file(entry: &Entry, name: &str) -> bool {
    entry.text(&format!("{name}-data")).is_none() && entry.text(name).is_some()
}

/// Decodes base64. Line ends within the text are allowed, as in Go's decoder.
fn decode(text: &str) -> Option<Vec<u8>> {
    let text: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    STANDARD.decode(text).ok()
}

impl Loaded {
    /// Fails unless there is at least one certificate.
    pub(super) fn with_certificate(self) -> Result<Self, Error> {
        if CertificateDer::pem_slice_iter(&self.pem).any(|certificate| certificate.is_ok()) {
            return Ok(self);
        }
        Err(Error::Pem { location: self.location, what: "contains no certificate" })
    }

    /// Fails unless there is a private key.
    pub(super) fn with_private_key(self) -> Result<Self, Error> {
        match PrivateKeyDer::from_pem_slice(&self.pem) {
            Ok(_) => Ok(self),
            Err(_) => Err(Error::Pem { location: self.location, what: "contains no private key" }),
        }
    }
}
