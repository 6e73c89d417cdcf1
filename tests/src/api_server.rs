//! One kube-apiserver that can be stopped and started again on its port.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::audit;
use crate::binaries::{Binaries, ServerKind};
use crate::client::Client;
use crate::credentials::{self, Credentials};
use crate::kubeconfig;
use crate::process::{Process, Signal};
use crate::run_folder::RunFolder;

/// Time limit until the server is ready. On an idle machine it takes three to four seconds.
const READY_WITHIN: Duration = Duration::from_mins(2);
/// Time limit for the exit. With open watches, the server drains for its `--request-timeout`, which is one minute.
const STOPPED_WITHIN: Duration = Duration::from_mins(2);

/// The plugin waits for a controller that creates the default ServiceAccount of each namespace.
const WITHOUT_SERVICE_ACCOUNTS: &str = "--disable-admission-plugins=ServiceAccount";

/// The API server of a cluster, running or not.
#[derive(Debug)]
pub(crate) struct ApiServer {
    kind: ServerKind,
    binary: PathBuf,
    arguments: Vec<String>,
    log: PathBuf,
    process: Option<Process>,
}

impl ApiServer {
    /// Writes the server's files and builds its arguments, without starting it.
    pub(crate) fn prepare(
        kind: ServerKind,
        binaries: &Binaries,
        folder: &RunFolder,
        at: SocketAddr,
        etcd_url: &str,
        credentials: &Credentials,
    ) -> Result<Self> {
        let mut arguments = vec![
            format!("--etcd-servers={etcd_url}"),
            format!("--bind-address={}", at.ip()),
            format!("--secure-port={}", at.port()),
            format!("--cert-dir={}", folder.path().join("certificates").display()),
            flag_with_file(folder, "tls-cert-file", "server.crt", &credentials.server.certificate)?,
            flag_with_file(folder, "tls-private-key-file", "server.key", &credentials.server.key)?,
            flag_with_file(folder, "client-ca-file", "ca.crt", &credentials.authority)?,
            flag_with_file(folder, "audit-policy-file", "audit-policy.yaml", audit::POLICY)?,
            format!("--audit-log-path={}", audit_log(folder).display()),
            // Written before the request's next stage, so a killed server loses no event.
            "--audit-log-mode=blocking".to_owned(),
        ];
        arguments.extend(match kind {
            ServerKind::KubeApiserver => kube_apiserver_flags(folder, credentials)?,
            ServerKind::Apiextensions => apiextensions_flags(folder, credentials)?,
        });
        let binary = binaries.api_server.clone();
        Ok(Self { kind, binary, arguments, log: folder.path().join("kube-apiserver.log"), process: None })
    }

    /// Appends flags to those that the server has.
    pub(crate) fn add_arguments(&mut self, arguments: &[String]) {
        self.arguments.extend_from_slice(arguments);
    }

    /// The values of its flags with this name, such as `--feature-gates`.
    pub(crate) fn flag(&self, name: &str) -> impl Iterator<Item = &str> {
        let value = move |argument: &'_ String| argument.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
        self.arguments.iter().filter(move |argument| value(argument)).filter_map(|argument| Some(argument.split_once('=')?.1))
    }

    /// Switches on the admission plugin that gives pods their ServiceAccount and its token. The test creates the accounts.
    pub(crate) fn admit_service_accounts(&mut self) {
        self.arguments.retain(|argument| argument != WITHOUT_SERVICE_ACCOUNTS);
    }

    /// Starts the server and waits until its readiness paths answer `client` with success.
    pub(crate) fn start(&mut self, client: &Client) -> Result<()> {
        ensure!(self.process.is_none(), "the API server was not stopped, or nobody waited for its end");
        let mut process = Process::start("the API server", &self.binary, &self.arguments, self.log.clone())?;
        let answer = self.readiness();
        let ready = || answer.iter().all(|path| client.get(path).is_ok());
        process.wait_until(READY_WITHIN, ready)?;
        self.process = Some(process);
        Ok(())
    }

    /// The paths that answer with success once the server is ready.
    const fn readiness(&self) -> [&'static str; 2] {
        match self.kind {
            // The first start creates this namespace in the background, independently of `/readyz`.
            ServerKind::KubeApiserver => ["/readyz", "/api/v1/namespaces/default"],
            // `/readyz` would fail until the server had seen the Services of a kube-apiserver.
            ServerKind::Apiextensions => ["/livez", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"],
        }
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

fn kube_apiserver_flags(folder: &RunFolder, credentials: &Credentials) -> Result<Vec<String>> {
    let (signing_key, verifying_key) = &credentials.service_accounts;
    Ok(vec![
        flag_with_file(folder, "token-auth-file", "tokens.csv", &credentials::token_file())?,
        flag_with_file(folder, "service-account-key-file", "service-accounts.pub", verifying_key)?,
        flag_with_file(folder, "service-account-signing-key-file", "service-accounts.key", signing_key)?,
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        WITHOUT_SERVICE_ACCOUNTS.to_owned(),
        // By default the server looks for an interface with a default route, which a test machine may lack. It would refuse to
        // publish a loopback address as endpoint of `kubernetes.default`, which no test uses.
        "--advertise-address=127.0.0.1".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
    ])
}

/// apiextensions-apiserver delegates authentication and authorisation to a kube-apiserver, and none exists here. All users are
/// members of `system:masters` with certificates, which it accepts without a lookup.
fn apiextensions_flags(folder: &RunFolder, credentials: &Credentials) -> Result<Vec<String>> {
    const UNREACHABLE: &str = "https://127.0.0.1:1";
    let document = kubeconfig::with_certificate(UNREACHABLE, &credentials.authority, "nobody", &credentials.admin);
    let nowhere = folder.write("kubeconfig-nowhere.yaml", document)?;
    let mut flags = vec![
        "--authentication-skip-lookup=true".to_owned(),
        "--disable-admission-plugins=NamespaceLifecycle,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,\
         MutatingAdmissionPolicy,ValidatingAdmissionPolicy"
            .to_owned(),
        "--enable-priority-and-fairness=false".to_owned(),
    ];
    let of_peers = ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"];
    flags.extend(of_peers.map(|flag| format!("--{flag}={}", nowhere.display())));
    Ok(flags)
}

fn flag_with_file(folder: &RunFolder, flag: &str, name: &str, content: &str) -> Result<String> {
    Ok(format!("--{flag}={}", folder.write(name, content)?.display()))
}

pub(crate) fn audit_log(folder: &RunFolder) -> PathBuf {
    folder.path().join("audit.log")
}
