//! A cluster of one etcd and one kube-apiserver, without controllers.
//!
//! Objects stay as the test creates them: no controller acts on them, namespaces are not finalised, and pods do not run.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::OnceLock;
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};

use crate::api_server::{self, ApiServer};
use crate::audit;
use crate::binaries::{Binaries, EtcdRelease, Minor, ServerKind};
use crate::client::{Client, Connections, Response};
use crate::credentials::{ADMIN_TOKEN, CLIENTS, Credentials, VISITOR_TOKEN, client_token, client_user};
use crate::etcd::{self, Etcd};
use crate::etcd_hop::EtcdHop;
use crate::kubeconfig;
use crate::list_counters::ListCounters;
use crate::metrics::Metrics;
use crate::ports::Port;
use crate::process::Signal;
use crate::run_folder::RunFolder;

/// Deviations of a test cluster from the default.
#[derive(Clone, Debug)]
pub struct Options {
    /// Minor version of the API server.
    pub minor: Minor,
    /// Further API server flags, as in `--feature-gates=WatchList=false`. They follow the defaults; the last of a repeated flag
    /// wins.
    pub api_server_arguments: Vec<String>,
    /// Release of etcd.
    pub etcd: EtcdRelease,
    /// Further etcd flags, as in `--log-level=debug`. They follow the defaults.
    pub etcd_arguments: Vec<String>,
    /// Whether [`Cluster::hold_etcd_watches`] can hold back watches between the API server and etcd.
    pub etcd_hop: bool,
    /// Loopback address on which the API server listens.
    pub address: IpAddr,
    /// Whether pods get a token of their ServiceAccount, as in a real cluster. The test creates the accounts, because no controller does.
    pub service_account_admission: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            minor: Minor::DEFAULT,
            api_server_arguments: Vec::new(),
            etcd: EtcdRelease::default(),
            etcd_arguments: Vec::new(),
            etcd_hop: false,
            address: Ipv4Addr::LOCALHOST.into(),
            service_account_admission: false,
        }
    }
}

/// A running cluster. Its processes and files disappear when it is dropped or when the test process ends.
#[derive(Debug)]
pub struct Cluster {
    // Fields are dropped in this order: the servers stop before their files are removed.
    api_server: ApiServer,
    etcd_hop: Option<EtcdHop>,
    etcd: Etcd,
    kind: ServerKind,
    address: IpAddr,
    port: Port,
    version: String,
    credentials: Credentials,
    client: Client,
    folder: RunFolder,
}

impl Cluster {
    /// Starts both servers and waits until they are ready.
    pub fn start(options: &Options) -> Result<Self> {
        let binaries = Binaries::of_minor(options.minor, options.etcd)?;
        let folder = RunFolder::create()?;
        let credentials = Credentials::generate()?;
        let port = Port::reserve()?;
        let at = SocketAddr::new(options.address, port.number());
        let server = format!("https://{at}");
        let etcd = Etcd::start(&binaries.etcd, &folder, &options.etcd_arguments)?;
        let etcd_hop = options.etcd_hop.then(|| EtcdHop::start(etcd.address())).transpose()?;
        let etcd_url = etcd_hop.as_ref().map_or_else(|| etcd.url().to_owned(), EtcdHop::url);
        let kind = options.minor.server();
        let mut api_server = ApiServer::prepare(kind, &binaries, &folder, at, &etcd_url, &credentials)?;
        if options.service_account_admission {
            api_server.admit_service_accounts();
        }
        api_server.add_arguments(&options.api_server_arguments);
        let client = admin_of(kind, &server, &credentials, Connections::PerRequest)?;
        api_server.start(&client)?;
        Ok(Self {
            kind,
            api_server,
            etcd_hop,
            etcd,
            address: options.address,
            port,
            version: binaries.version,
            credentials,
            client,
            folder,
        })
    }

    /// One cluster for all tests of this process that do not stop it: a shared reference can neither stop nor restart it.
    pub fn shared() -> Result<&'static Self> {
        static SHARED: OnceLock<Result<Cluster, String>> = OnceLock::new();
        let cluster = SHARED.get_or_init(|| Self::start(&Options::default()).map_err(|error| format!("{error:#}")));
        cluster.as_ref().map_err(|error| anyhow!("{error}"))
    }

    /// `https://127.0.0.1:…`; a restart does not change it.
    pub fn server_url(&self) -> String {
        format!("https://{}", self.socket_address())
    }

    /// Address on which the API server listens.
    pub fn socket_address(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.port.number())
    }

    /// The port of the API server.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// The version that the API server must report, as in `v1.34.4`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The feature gates that the API server's flags set, each with its state.
    pub fn feature_gates(&self) -> impl Iterator<Item = (&str, bool)> {
        let gates = self.api_server.flag("--feature-gates").flat_map(|gates| gates.split(','));
        gates.filter_map(|gate| gate.split_once('=')).map(|(name, state)| (name, state == "true"))
    }

    /// The CA that signed the serving certificate and the client certificate, PEM.
    pub fn ca_pem(&self) -> &str {
        &self.credentials.authority
    }

    /// Bearer token of `admin`, a member of `system:masters`: it may do everything and is exempt from priority and fairness.
    pub fn admin_token(&self) -> &'static str {
        ADMIN_TOKEN
    }

    /// Bearer token of `visitor`, a user without RBAC rules.
    pub fn visitor_token(&self) -> &'static str {
        VISITOR_TOKEN
    }

    /// Writes a kubeconfig of `admin` with a bearer token.
    pub fn kubeconfig_token(&self) -> Result<PathBuf> {
        let document = kubeconfig::with_token(&self.server_url(), self.ca_pem(), "admin", ADMIN_TOKEN);
        self.folder.write("kubeconfig-token.yaml", document)
    }

    /// Writes a kubeconfig of a member of `system:masters`, with a credential that this kind of API server accepts.
    pub fn kubeconfig_admin(&self) -> Result<PathBuf> {
        match self.kind {
            ServerKind::KubeApiserver => self.kubeconfig_token(),
            ServerKind::Apiextensions => self.kubeconfig_client_cert(),
        }
    }

    /// Writes a kubeconfig of `visitor` with a bearer token.
    pub fn kubeconfig_visitor(&self) -> Result<PathBuf> {
        let document = kubeconfig::with_token(&self.server_url(), self.ca_pem(), "visitor", VISITOR_TOKEN);
        self.folder.write("kubeconfig-visitor.yaml", document)
    }

    /// Writes a kubeconfig of the user `client-NUMBER`, one of 64 members of `system:masters`. `server` (URL) and `authority` (PEM)
    /// may belong to another server.
    pub fn kubeconfig_of_client(&self, number: usize, server: &str, authority: &str) -> Result<PathBuf> {
        ensure!(number < CLIENTS, "there are {CLIENTS} clients");
        let user = client_user(number);
        let document = kubeconfig::with_token(server, authority, &user, &client_token(number));
        self.folder.write(&format!("kubeconfig-{user}.yaml"), document)
    }

    /// Writes a kubeconfig of `certificate-admin`, a member of `system:masters` with a client certificate.
    pub fn kubeconfig_client_cert(&self) -> Result<PathBuf> {
        let identity = &self.credentials.admin;
        let document = kubeconfig::with_certificate(&self.server_url(), self.ca_pem(), "certificate-admin", identity);
        self.folder.write("kubeconfig-client-cert.yaml", document)
    }

    /// Writes a kubeconfig of `admin`, whose bearer token comes from an exec plugin.
    pub fn kubeconfig_exec_token(&self) -> Result<PathBuf> {
        self.kubeconfig_exec("exec-token", "admin", &json!({"token": ADMIN_TOKEN}))
    }

    /// Writes a kubeconfig of `certificate-admin`, whose client certificate comes from an exec plugin.
    pub fn kubeconfig_exec_certificate(&self) -> Result<PathBuf> {
        let identity = &self.credentials.admin;
        let status = json!({"clientCertificateData": identity.certificate, "clientKeyData": identity.key});
        self.kubeconfig_exec("exec-certificate", "certificate-admin", &status)
    }

    fn kubeconfig_exec(&self, name: &str, user: &str, status: &Value) -> Result<PathBuf> {
        let credential = self.folder.write(&format!("{name}.json"), kubeconfig::exec_credential(status))?;
        let document = kubeconfig::with_exec_plugin(&self.server_url(), self.ca_pem(), user, &credential);
        self.folder.write(&format!("kubeconfig-{name}.yaml"), document)
    }

    /// A kubeconfig with a context for each of several users: `admin`, `visitor`, `certificate` and `rotating`. The context
    /// `renamed` has the cluster under another name. The token of `rotating` is in the file `token` beside it. `user` is the
    /// kubeconfig's name for the user of `admin`.
    pub fn kubeconfig_with_contexts(&self, user: &str) -> String {
        kubeconfig::with_contexts(&self.server_url(), self.port(), &self.credentials, user)
    }

    /// Issues a token for this ServiceAccount, and creates the account if needed. The token contains its user and expires in one
    /// hour.
    pub fn service_account_token(&self, namespace: &str, name: &str) -> Result<String> {
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}});
        exists(&self.client.post(&path, &account)?)?;
        let request =
            json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}});
        let answer = self.client.post(&format!("{path}/{name}/token"), &request)?.success()?.json()?;
        Ok(answer["status"]["token"].as_str().context("a TokenRequest is answered with a token")?.to_owned())
    }

    /// The client that [`Cluster::raw`] uses, for use on another thread.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// A client of `admin` that keeps its connection.
    pub fn client_for_bulk(&self) -> Result<Client> {
        admin_of(self.kind, &self.server_url(), &self.credentials, Connections::Kept)
    }

    /// A client with the certificate of `certificate-admin`.
    pub fn client_with_certificate(&self) -> Result<Client> {
        Client::with_certificate(&self.server_url(), self.ca_pem(), &self.credentials.admin, Connections::PerRequest)
    }

    /// Sends one request as `admin`, on a connection of its own; see [`Client::raw`].
    pub fn raw(&self, method: &str, path_and_query: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Response> {
        self.client.raw(method, path_and_query, headers, body)
    }

    /// A scrape of the API server's `/metrics`.
    pub fn metrics(&self) -> Result<Metrics> {
        Metrics::parse(&self.client.get("/metrics")?.text())
    }

    /// The list counters of one resource, as in `podtemplates` or `deployments.apps`.
    pub fn counters(&self, resource: &str) -> Result<ListCounters> {
        Ok(ListCounters::of(&self.metrics()?, resource))
    }

    /// Ensures that the namespace contains the config maps `cm-0` to `cm-(count - 1)` and that the watch cache has them. It also
    /// creates the namespace.
    pub fn create_configmaps(&self, namespace: &str, count: usize) -> Result<()> {
        const THREADS: usize = 4;
        let named = |kind: &str, name: &str| json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}});
        exists(&self.client.post("/api/v1/namespaces", &named("Namespace", namespace))?)?;
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        let fill = |first: usize| -> Result<()> {
            let client = self.client_for_bulk()?;
            for number in (first..count).step_by(THREADS) {
                exists(&client.post(&path, &named("ConfigMap", &format!("cm-{number}")))?)?;
            }
            Ok(())
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|first| scope.spawn(move || fill(first))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_panic| anyhow!("a thread panicked"))?)
        })?;
        // A consistent list waits until the watch cache has caught up with etcd; a list with `resourceVersion=0` does not.
        self.client.get(&format!("{path}?fieldSelector=metadata.name%3Dcm-0")).map(drop)
    }

    /// The audit events so far. The last stage of a request may appear shortly after its response; see [`Cluster::audit_log_when`].
    pub fn audit_log(&self) -> Result<Vec<Value>> {
        audit::read(&api_server::audit_log(&self.folder))
    }

    /// Path of etcd's log.
    pub fn etcd_log_file(&self) -> PathBuf {
        etcd::log(self.folder.path())
    }

    /// Path of the audit log.
    pub fn audit_log_file(&self) -> PathBuf {
        api_server::audit_log(&self.folder)
    }

    /// Waits for audit events that satisfy `enough`.
    pub fn audit_log_when(&self, enough: impl Fn(&[Value]) -> bool) -> Result<Vec<Value>> {
        audit::read_when(&api_server::audit_log(&self.folder), enough)
    }

    /// Path of the API server's log; a restart appends to it.
    pub fn api_server_log(&self) -> &Path {
        self.api_server.log()
    }

    /// Sends a signal to the API server and returns immediately. After SIGTERM or SIGKILL, call [`Cluster::wait_stopped`].
    pub fn stop_api_server(&mut self, signal: Signal) -> Result<()> {
        self.api_server.signal(signal)
    }

    /// Waits until the API server exits; until then its port is in use.
    ///
    /// After SIGTERM with open watches this takes 60 s, the server's `--request-timeout`. With
    /// `--shutdown-watch-termination-grace-period=2s` it takes about one second.
    pub fn wait_stopped(&mut self) -> Result<ExitStatus> {
        self.api_server.wait_stopped()
    }

    /// Restarts the API server on the same port and etcd, and waits until it is ready.
    pub fn start_api_server(&mut self) -> Result<()> {
        self.api_server.start(&self.client)
    }

    /// Sends a signal to etcd and returns immediately.
    pub fn signal_etcd(&self, signal: Signal) -> Result<()> {
        self.etcd.signal(signal)
    }

    /// Copies etcd's data, as a backup. etcd is stopped briefly.
    pub fn back_up_etcd(&mut self) -> Result<()> {
        self.etcd.back_up()
    }

    /// Replaces etcd's data with the backup, so that the revision decreases. Stop the API server first.
    pub fn restore_etcd(&mut self) -> Result<()> {
        ensure!(self.api_server.process_id().is_none(), "the API server runs");
        self.etcd.restore()
    }

    /// Holds back or releases etcd's watch responses; reads and writes pass. Requires [`Options::etcd_hop`].
    pub fn hold_etcd_watches(&self, held: bool) -> Result<()> {
        self.etcd_hop.as_ref().context("this cluster has no hop in front of its etcd")?.hold_watches(held);
        Ok(())
    }

    /// The current revision of etcd.
    pub fn revision(&self) -> Result<u64> {
        self.etcd.revision()
    }

    /// Compacts etcd to its current revision as another API server would, so that this API server notices, and returns the
    /// revision.
    ///
    /// kubernetes/apiserver `pkg/storage/etcd3/compact.go` `Compact`: the compacting server writes the revision to a key. From 1.34
    /// on all API servers watch that key; their watch caches look every 15 s (`pkg/storage/cacher/compactor.go`).
    pub fn compact_etcd(&self) -> Result<u64> {
        let revision = self.etcd.revision()?;
        self.etcd.put("compact_rev_key", &revision.to_string())?;
        self.etcd.compact(revision)?;
        Ok(revision)
    }

    /// Writes a key directly to etcd, without the API server.
    pub fn put_in_etcd(&self, key: &str, value: &str) -> Result<()> {
        self.etcd.put(key, value).map(drop)
    }

    /// Process IDs of the running servers.
    pub fn process_ids(&self) -> Vec<u32> {
        self.api_server.process_id().into_iter().chain([self.etcd.process_id()]).collect()
    }
}

/// A client of a `system:masters` member.
fn admin_of(kind: ServerKind, server: &str, credentials: &Credentials, connections: Connections) -> Result<Client> {
    match kind {
        ServerKind::KubeApiserver => Client::with_token(server, &credentials.authority, ADMIN_TOKEN, connections),
        ServerKind::Apiextensions => Client::with_certificate(server, &credentials.authority, &credentials.admin, connections),
    }
}

/// Success, whether the object was created now or earlier.
fn exists(response: &Response) -> Result<()> {
    const CREATED: u16 = 201;
    const CONFLICT: u16 = 409;
    let there = [CREATED, CONFLICT].contains(&response.status);
    ensure!(there, "the API server said {}: {}", response.status, response.text());
    Ok(())
}
