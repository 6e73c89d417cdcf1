//! The certificates of one run: a CA, and the certificate of the server and of all proxies except watchtap.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair};

/// Certificate files in the private folder of a run.
#[derive(Clone, Debug)]
pub(crate) struct Credentials {
    /// The CA certificate.
    pub(crate) authority: PathBuf,
    /// The server's certificate (ECDSA P-256, for `localhost`, 127.0.0.1 and the Service of a webhook).
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
    /// Certificate and key in one file, as haproxy requires.
    pub(crate) bundle: PathBuf,
}

impl Credentials {
    /// Generates the files in `folder`.
    pub(crate) fn generate(folder: &Path) -> Result<Self> {
        let mut params = subject("bench CA", &[])?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let mut params = subject("bench server", &["localhost", "127.0.0.1", "watchtap.watchtap-system.svc"])?;
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&key, &issuer)?;
        let file = |name: &str, text: &str| private(&folder.join(name), text);
        Ok(Self {
            authority: file("ca.pem", &issuer.pem())?,
            certificate: file("server.pem", &certificate.pem())?,
            key: file("server-key.pem", &key.serialize_pem())?,
            bundle: file("server-bundle.pem", &format!("{}{}", certificate.pem(), key.serialize_pem()))?,
        })
    }
}

/// The names differ, because OpenSSL treats a certificate with equal subject and issuer as self-signed.
fn subject(common_name: &str, names: &[&str]) -> Result<CertificateParams> {
    let mut params = CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    Ok(params)
}

/// Writes a file that only its owner can read.
pub(crate) fn private(path: &Path, text: &str) -> Result<PathBuf> {
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path);
    let written = file.as_mut().map(|file| std::io::Write::write_all(file, text.as_bytes()));
    written.map(|_| ()).map_err(|error| anyhow::anyhow!("{error}")).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path.to_path_buf())
}
