//! One kube-apiserver that can be stopped and started again on its port.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::audit;
use crate::client::Client;
use crate::credentials::{self, Credentials};
use crate::process::{Process, Signal};
use crate::run_folder::RunFolder;

/// Three to four seconds on an idle machine.
const READY_WITHIN: Duration = Duration::from_mins(2);
/// With watches open the server gives up draining after its `--request-timeout` of a minute.
const STOPPED_WITHIN: Duration = Duration::from_mins(2);

/// The API server of a cluster, running or not.
#[derive(Debug)]
pub(crate) struct ApiServer {
    binary: PathBuf,
    arguments: Vec<String>,
    log: PathBuf,
    process: Option<Process>,
}

impl ApiServer {
    /// Writes what the server reads; it does not run yet.
    pub(crate) fn prepare(
        binary: PathBuf,
        folder: &RunFolder,
        at: SocketAddr,
        etcd_url: &str,
        credentials: &Credentials,
        more_arguments: &[String],
    ) -> Result<Self> {
        let (signing_key, verifying_key) = &credentials.service_accounts;
        let file = |flag: &str, name: &str, content: &str| -> Result<String> {
            Ok(format!("--{flag}={}", folder.write(name, content)?.display()))
        };
        let mut arguments = vec![
            format!("--etcd-servers={etcd_url}"),
            format!("--bind-address={}", at.ip()),
            format!("--secure-port={}", at.port()),
            format!("--cert-dir={}", folder.path().join("certificates").display()),
            file("tls-cert-file", "server.crt", &credentials.server.certificate)?,
            file("tls-private-key-file", "server.key", &credentials.server.key)?,
            file("client-ca-file", "ca.crt", &credentials.authority)?,
            file("token-auth-file", "tokens.csv", &credentials::token_file())?,
            file("service-account-key-file", "service-accounts.pub", verifying_key)?,
            file("service-account-signing-key-file", "service-accounts.key", signing_key)?,
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            // It would wait for a controller that makes the default ServiceAccount of each namespace.
            "--disable-admission-plugins=ServiceAccount".to_owned(),
            // Else it looks for an interface with a default route, which a test machine may lack. It would refuse to publish
            // a loopback address as endpoint of `kubernetes.default`; nobody here looks that up.
            "--advertise-address=127.0.0.1".to_owned(),
            "--endpoint-reconciler-type=none".to_owned(),
            file("audit-policy-file", "audit-policy.yaml", audit::POLICY)?,
            format!("--audit-log-path={}", audit_log(folder).display()),
            // Written before the next stage of the request, so nothing is lost when the server is killed.
            "--audit-log-mode=blocking".to_owned(),
        ];
        arguments.extend_from_slice(more_arguments);
        Ok(Self { binary, arguments, log: folder.path().join("kube-apiserver.log"), process: None })
    }

    /// Starts the server and waits until it is ready in the eyes of `client`.
    pub(crate) fn start(&mut self, client: &Client) -> Result<()> {
        ensure!(self.process.is_none(), "the API server was not stopped, or nobody waited for its end");
        let mut process = Process::start("kube-apiserver", &self.binary, &self.arguments, self.log.clone())?;
        // The first start makes the namespace in the background, ready or not.
        let ready = || client.get("/readyz").is_ok() && client.get("/api/v1/namespaces/default").is_ok();
        process.wait_until(READY_WITHIN, ready)?;
        self.process = Some(process);
        Ok(())
    }

    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        self.process.as_ref().context("the API server does not run")?.signal(signal)
    }

    pub(crate) fn wait_stopped(&mut self) -> Result<ExitStatus> {
        let status = self.process.as_mut().context("the API server does not run")?.wait(STOPPED_WITHIN)?;
        self.process = None;
        Ok(status)
    }

    pub(crate) fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    pub(crate) fn log(&self) -> &Path {
        &self.log
    }
}

pub(crate) fn audit_log(folder: &RunFolder) -> PathBuf {
    folder.path().join("audit.log")
}
