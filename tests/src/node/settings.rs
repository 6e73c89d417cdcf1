//! The configuration of a node's parts: addresses, credentials, flags, and documents.

use std::path::PathBuf;

use anyhow::Result;
use rcgen::KeyPair;

use crate::audit;
use crate::credentials::{self, Authority};
use crate::kubeconfig;
use crate::run_folder::RunFolder;

/// Name of the node.
pub(crate) const NAME: &str = "node";
/// Address of the node.
pub(crate) const ADDRESS: &str = "10.90.0.1";
/// Address of the Service `kubernetes`: the first one of the Services. The node has it itself, and the API server listens there, so that
/// nothing needs to redirect what is sent to it. Other Services have an address, but no server answers there.
pub(crate) const SERVICE: &str = "10.96.0.1";
/// The port of the Service `kubernetes`, and of the API server.
pub(crate) const PORT: u16 = 443;
const SERVICES: &str = "10.96.0.0/16";
const PODS: &str = "10.244.0.0/24";
/// The image of the first process of each pod.
pub(crate) const PAUSE: &str = "localhost/pause:1";
/// containerd's socket.
pub(crate) const CONTAINERD: &str = "/run/containerd/containerd.sock";
const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";
/// User and group of the clients of the API server that have a token of their own.
const CLIENTS: [(&str, &str); 4] = [
    (ADMIN, "system:masters"),
    ("system:kube-controller-manager", "parts-of-the-node"),
    ("system:kube-scheduler", "parts-of-the-node"),
    ("system:node:node", "system:nodes"),
];
const ADMIN: &str = "admin";

/// URL of the API server.
pub(crate) fn server_url() -> String {
    format!("https://{SERVICE}")
}

/// The folder with all files of the settings.
#[derive(Debug)]
pub(crate) struct Settings {
    folder: PathBuf,
    /// The certificate authority of the cluster, PEM.
    pub(crate) authority: String,
    cgroup: String,
}

impl Settings {
    /// Creates the credentials, and writes all files.
    pub(crate) fn write(folder: &RunFolder, cgroup: &str) -> Result<Self> {
        let authority = credentials::authority()?;
        let settings = Self { folder: folder.path().to_owned(), authority: authority.pem(), cgroup: cgroup.to_owned() };
        settings.write_credentials(folder, &authority)?;
        folder.write("audit-policy.yaml", audit::POLICY)?;
        folder.write("resolv.conf", "")?;
        folder.write("containerd.toml", settings.containerd_document())?;
        folder.write("kubelet.yaml", settings.kubelet_document())?;
        std::fs::create_dir(folder.path().join("cni"))?;
        std::fs::create_dir(settings.static_pods())?;
        folder.write("cni/pods.conflist", network_document())?;
        Ok(settings)
    }

    fn write_credentials(&self, folder: &RunFolder, authority: &Authority) -> Result<()> {
        let hosts = [
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
            "localhost",
            "127.0.0.1",
            ADDRESS,
            SERVICE,
        ];
        let identities = [
            ("api-server", credentials::server(authority, "kube-apiserver", &hosts)?),
            ("kubelet", credentials::server(authority, "kubelet", &[NAME, ADDRESS])?),
            ("kubelet-client", credentials::client(authority, "system:masters", "kube-apiserver")?),
        ];
        for (name, identity) in identities {
            folder.write(&format!("{name}.crt"), identity.certificate)?;
            folder.write(&format!("{name}.key"), identity.key)?;
        }
        let tokens = KeyPair::generate()?;
        folder.write("ca.crt", &self.authority)?;
        folder.write("service-accounts.key", tokens.serialize_pem())?;
        folder.write("service-accounts.pub", tokens.public_key_pem())?;
        let row = |(number, (user, group)): (usize, &(&str, &str))| format!("{},{user},{number},\"{group}\"\n", token(user));
        folder.write("tokens.csv", CLIENTS.iter().enumerate().map(row).collect::<String>())?;
        for (user, _) in CLIENTS {
            let document = kubeconfig::with_token(&server_url(), &self.authority, user, &token(user));
            folder.write(&format!("{}.kubeconfig", user.replace(':', "-")), document)?;
        }
        Ok(())
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    pub(crate) fn cgroup(&self) -> &str {
        &self.cgroup
    }

    /// A folder for each registry that is no public one, with the certificates that containerd trusts there.
    pub(crate) fn registries(&self) -> PathBuf {
        self.folder.join("registries")
    }

    /// The folder with the manifests of static pods.
    pub(crate) fn static_pods(&self) -> PathBuf {
        self.folder.join("static-pods")
    }

    /// The kubeconfig of a member of `system:masters`.
    pub(crate) fn admin_kubeconfig(&self) -> PathBuf {
        self.folder.join("admin.kubeconfig")
    }

    /// Path of the audit log.
    pub(crate) fn audit_log(&self) -> PathBuf {
        self.folder.join("audit.log")
    }

    pub(crate) fn etcd_flags(&self) -> Vec<String> {
        vec![format!("--data-dir={}", self.path("etcd")), "--unsafe-no-fsync".to_owned()]
    }

    pub(crate) fn containerd_flags(&self) -> Vec<String> {
        vec![format!("--config={}", self.path("containerd.toml"))]
    }

    /// The plugins `ServiceAccount` and `PodSecurity` are on by default.
    pub(crate) fn api_server_flags(&self) -> Vec<String> {
        let files = [
            ("audit-log-path", "audit.log"),
            ("audit-policy-file", "audit-policy.yaml"),
            ("client-ca-file", "ca.crt"),
            ("kubelet-certificate-authority", "ca.crt"),
            ("kubelet-client-certificate", "kubelet-client.crt"),
            ("kubelet-client-key", "kubelet-client.key"),
            ("service-account-key-file", "service-accounts.pub"),
            ("service-account-signing-key-file", "service-accounts.key"),
            ("tls-cert-file", "api-server.crt"),
            ("tls-private-key-file", "api-server.key"),
            ("token-auth-file", "tokens.csv"),
        ];
        let mut flags = vec![
            "--etcd-servers=http://127.0.0.1:2379".to_owned(),
            format!("--secure-port={PORT}"),
            format!("--advertise-address={ADDRESS}"),
            format!("--service-cluster-ip-range={SERVICES}"),
            format!("--service-account-issuer={ISSUER}"),
            "--authorization-mode=Node,RBAC".to_owned(),
            "--enable-admission-plugins=NodeRestriction".to_owned(),
            "--allow-privileged=true".to_owned(),
            "--kubelet-preferred-address-types=InternalIP".to_owned(),
            // It calls webhooks at the addresses of their pods, because no kube-proxy forwards the addresses of Services.
            "--enable-aggregator-routing=true".to_owned(),
            // Written before the request's next stage, so a killed server loses no event.
            "--audit-log-mode=blocking".to_owned(),
        ];
        flags.extend(files.map(|(flag, file)| format!("--{flag}={}", self.path(file))));
        flags
    }

    pub(crate) fn controller_manager_flags(&self) -> Vec<String> {
        let mut flags = self.client_flags("system-kube-controller-manager");
        flags.extend([
            format!("--service-account-private-key-file={}", self.path("service-accounts.key")),
            format!("--root-ca-file={}", self.path("ca.crt")),
            "--use-service-account-credentials=true".to_owned(),
            // Otherwise it creates a folder in /usr/libexec.
            "--flex-volume-plugin-dir=/var/lib/kubelet/volume-plugins".to_owned(),
        ]);
        flags
    }

    pub(crate) fn scheduler_flags(&self) -> Vec<String> {
        self.client_flags("system-kube-scheduler")
    }

    fn client_flags(&self, kubeconfig: &str) -> Vec<String> {
        vec![
            format!("--kubeconfig={}", self.path(&format!("{kubeconfig}.kubeconfig"))),
            "--authentication-skip-lookup=true".to_owned(),
            "--leader-elect=false".to_owned(),
            // With the default of 20 requests a second, the controllers need some seconds to start.
            "--kube-api-qps=200".to_owned(),
            "--kube-api-burst=300".to_owned(),
        ]
    }

    pub(crate) fn kubelet_flags(&self) -> Vec<String> {
        vec![
            format!("--config={}", self.path("kubelet.yaml")),
            format!("--kubeconfig={}", self.path("system-node-node.kubeconfig")),
            format!("--hostname-override={NAME}"),
            format!("--node-ip={ADDRESS}"),
            "--root-dir=/var/lib/kubelet".to_owned(),
        ]
    }

    /// `protectKernelDefaults`: the kubelet checks the settings of the kernel, and does not write them. It finds those in `isolation.sh`.
    fn kubelet_document(&self) -> String {
        let [authority, certificate, key, resolv_conf, static_pods] =
            ["ca.crt", "kubelet.crt", "kubelet.key", "resolv.conf", "static-pods"].map(|name| self.path(name));
        format!(
            "apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {{anonymous: {{enabled: false}}, webhook: {{enabled: true}}, x509: {{clientCAFile: '{authority}'}}}}
authorization: {{mode: Webhook}}
tlsCertFile: '{certificate}'
tlsPrivateKeyFile: '{key}'
containerRuntimeEndpoint: unix://{CONTAINERD}
cgroupDriver: cgroupfs
cgroupRoot: /{}
failCgroupV1: false
failSwapOn: false
protectKernelDefaults: true
oomScoreAdj: 0
makeIPTablesUtilChains: false
resolvConf: '{resolv_conf}'
staticPodPath: '{static_pods}'
volumePluginDir: /var/lib/kubelet/volume-plugins
evictionHard: {{imagefs.available: 0%, nodefs.available: 0%, nodefs.inodesFree: 0%}}
imageGCHighThresholdPercent: 100
",
            self.cgroup
        )
    }

    /// `restrict_oom_score_adj`: without `CAP_SYS_RESOURCE` no score can be lowered.
    fn containerd_document(&self) -> String {
        format!(
            "version = 2
root = '/var/lib/containerd'
state = '/run/containerd'
[grpc]
address = '{CONTAINERD}'
[plugins.'io.containerd.internal.v1.opt']
path = '/var/lib/containerd/opt'
[plugins.'io.containerd.grpc.v1.cri']
sandbox_image = '{PAUSE}'
disable_apparmor = true
restrict_oom_score_adj = true
[plugins.'io.containerd.grpc.v1.cri'.registry]
config_path = '{}'
[plugins.'io.containerd.grpc.v1.cri'.cni]
bin_dir = '{}'
conf_dir = '{}'
[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'
[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc.options]
SystemdCgroup = false
",
            self.path("registries"),
            PLUGINS,
            self.path("cni")
        )
    }
}

/// Where Debian's package `containernetworking-plugins` has its programs.
const PLUGINS: &str = "/usr/lib/cni";

/// Each pod has an address on one bridge, and the node as its gateway. There is no way out.
fn network_document() -> String {
    format!(
        r#"{{"cniVersion": "1.0.0", "name": "pods", "plugins": [{{
  "type": "bridge", "bridge": "pods", "isDefaultGateway": true, "hairpinMode": true,
  "ipam": {{"type": "host-local", "ranges": [[{{"subnet": "{PODS}"}}]]}}
}}]}}
"#
    )
}

fn token(user: &str) -> String {
    format!("token-of-{}", user.replace(':', "-"))
}

/// Bearer token of a member of `system:masters`.
pub(crate) fn admin_token() -> String {
    token(ADMIN)
}
