//! The cluster's CA, in the file that the kubelet keeps up to date from the `ConfigMap` `kube-root-ca.crt`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use crate::bounded_file;

/// Maximum size of the file in bytes. A certificate takes about 1.5 KiB. `ca.crt` is written to a volume of 1 MiB, twice while it
/// is replaced.
const MOST: u64 = 256 << 10;

/// The file with the cluster's CA.
#[derive(Clone, Debug)]
pub(in crate::session) struct ClusterCa(PathBuf);

impl ClusterCa {
    /// The file at `path`, which has to be there and to contain a certificate.
    pub(in crate::session) fn open(path: &Path) -> Result<Self> {
        let ca = Self(path.to_owned());
        ca.read().context("mount the ConfigMap kube-root-ca.crt there, as `watchtap inject` does")?;
        Ok(ca)
    }

    /// Reads the certificates in PEM.
    pub(super) fn read(&self) -> Result<Vec<u8>> {
        let path = self.0.display();
        let pem = bounded_file::read(&self.0, MOST).with_context(|| format!("cannot read the cluster's CA, {path}"))?;
        let has_certificate = CertificateDer::pem_slice_iter(&pem).any(|certificate| certificate.is_ok());
        ensure!(has_certificate, "the file of the cluster's CA, {path}, contains no certificate");
        Ok(pem)
    }
}
