//! A certificate in files, as cert-manager and the kubelet keep them up to date.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::client::verify_server_name;
use rustls::server::ParsedCertificate;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::time::sleep;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer as _;

use super::ServiceName;
use super::leaf::names;
use super::pace::Pace;
use super::report::{Report, State};
use super::served::Served;
use crate::backoff::{Backoff, chance, spread};
use crate::bounded_file;
use crate::kubeconfig::Secret;
use crate::printable::print_message;

/// Maximum size of each file in bytes. A Secret has at most 1 MiB.
const MAX_FILE_SIZE: u64 = 1 << 20;
/// The clocks of API servers differ by less than this from that of this machine.
const CLOCKS: Duration = Duration::from_hours(1);

/// The folder with `tls.crt` and `tls.key`.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    name: String,
    served: Arc<Served>,
    report: Report,
    pace: Pace,
    /// The files as they are served, and the end of the certificate.
    current: Option<(Files, SystemTime)>,
}

/// The contents of both files.
#[derive(Debug, PartialEq, Eq)]
struct Files {
    certificate: Vec<u8>,
    key: Secret,
}

/// Why the files cannot be used.
#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error("cannot read {path}: {error}; mount the Secret of cert-manager's Certificate there")]
    Unreadable { path: String, error: std::io::Error },
    #[error("{path} contains no {what} in PEM")]
    Empty { path: String, what: &'static str },
    #[error("the files in {path} cannot be used: {error}")]
    Library { path: String, error: rustls::Error },
    #[error("tls.crt in {path} is not valid for {name}; add this name to dnsNames of cert-manager's Certificate")]
    Name { path: String, name: String },
    #[error("tls.crt in {path} has expired; look at cert-manager's Certificate (kubectl describe)")]
    Expired { path: String, ended: SystemTime },
}

impl Folder {
    pub(super) fn new(path: &Path, service: &ServiceName, pace: Pace, served: Arc<Served>, report: Report) -> Self {
        let [name, ..] = names(service);
        Self { path: path.to_owned(), name, served, report, pace, current: None }
    }

    /// Reads the files again and again, and never returns.
    pub(super) async fn follow(mut self) {
        let mut backoff = Backoff::new(self.pace.retry, self.pace.check);
        loop {
            let read = self.read_again().await;
            let now = SystemTime::now();
            let judged = self.judge(now);
            let is_refused = judged.as_ref().is_err_and(|unusable| unusable.is_certain(now));
            let checked = read.and(judged);
            let pause = match &checked {
                Ok(()) => {
                    backoff.reset();
                    spread(self.pace.check, chance())
                }
                Err(_unusable) => backoff.next(chance()),
            };
            let expires = self.current.as_ref().map(|(_, ends)| *ends);
            let problem = checked.err().map(|unusable| unusable.to_string());
            self.report.publish(State { is_ready: expires.is_some() && !is_refused, expires, problem });
            sleep(pause).await;
        }
    }

    /// Reads both files, and serves them if they have changed. The kubelet replaces both at once, but not between two readings: then
    /// they do not match, and are read again.
    async fn read_again(&mut self) -> Result<(), Unusable> {
        let path = self.path.clone();
        let read = tokio::task::spawn_blocking(move || Files::read(&path)).await;
        let files = read.unwrap_or_else(|error| Err(Unusable::unreadable(&self.path, std::io::Error::other(error))))?;
        if self.current.as_ref().is_some_and(|(current, _)| *current == files) {
            return Ok(());
        }
        let (chain, ends) = self.chain(&files.certificate)?;
        let key = PrivateKeyDer::from_pem_slice(files.key.expose());
        let key = key.map_err(|_error| Unusable::Empty { path: shown(&self.path.join("tls.key")), what: "private key" })?;
        let served = self.served.replace(chain, key);
        served.map_err(|error| Unusable::Library { path: shown(&self.path), error })?;
        if self.current.is_some() {
            print_message("the webhook's certificate was replaced, and is served");
        }
        self.current = Some((files, ends));
        Ok(())
    }

    fn chain(&self, pem: &[u8]) -> Result<(Vec<CertificateDer<'static>>, SystemTime), Unusable> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok).collect();
        let parsed = chain.first().and_then(|leaf| X509Certificate::from_der(leaf).ok());
        let ends = parsed.map(|(_, leaf)| u64::try_from(leaf.validity().not_after.timestamp()).unwrap_or_default());
        let empty = || Unusable::Empty { path: shown(&self.path.join("tls.crt")), what: "certificate" };
        let ends = UNIX_EPOCH + Duration::from_secs(ends.ok_or_else(empty)?);
        Ok((chain, ends))
    }

    /// Looks for what the API server would refuse. The certificate is served all the same: it is the only one.
    fn judge(&self, now: SystemTime) -> Result<(), Unusable> {
        let Some((files, ends)) = &self.current else { return Ok(()) };
        let (chain, _) = self.chain(&files.certificate)?;
        let leaf = chain.first().and_then(|leaf| ParsedCertificate::try_from(leaf).ok());
        let name = ServerName::try_from(self.name.as_str()).ok();
        match leaf.zip(name) {
            Some((leaf, name)) if verify_server_name(&leaf, &name).is_ok() => {}
            Some(_) | None => return Err(Unusable::Name { path: shown(&self.path), name: self.name.clone() }),
        }
        if *ends < now { Err(Unusable::Expired { path: shown(&self.path), ended: *ends }) } else { Ok(()) }
    }
}

impl Files {
    fn read(folder: &Path) -> Result<Self, Unusable> {
        let read = |name: &str| {
            let path = folder.join(name);
            bounded_file::read(&path, MAX_FILE_SIZE).map_err(|error| Unusable::unreadable(&path, error))
        };
        Ok(Self { certificate: read("tls.crt")?, key: Secret::new(read("tls.key")?) })
    }
}

impl Unusable {
    /// Whether every API server refuses the certificate at `now`. Its own clock decides about the end.
    fn is_certain(&self, now: SystemTime) -> bool {
        match self {
            Self::Name { .. } => true,
            Self::Expired { ended, .. } => *ended + CLOCKS < now,
            Self::Unreadable { .. } | Self::Empty { .. } | Self::Library { .. } => false,
        }
    }

    fn unreadable(path: &Path, error: std::io::Error) -> Self {
        Self::Unreadable { path: shown(path), error }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
