//! Reads a context: its API server, and everything needed to verify it and to authenticate.

use std::path::{Path, PathBuf};

use kube::config::{AuthInfo, Cluster, Context};

use super::error::{Error, Location};
use super::exec_plugin::ExecPlugin;
use super::merged::Kubeconfig;
use super::pem;
use super::secret::Secret;
use super::section::{Entry, Section};
use super::upstream::{Scheme, Upstream};
use crate::forward_proxy::ForwardProxy;

/// A context with the cluster and the user that it names.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The name of the context.
    pub context: String,
    /// The name of its cluster.
    pub cluster: String,
    /// The name of its user; `None` if the context has no user.
    pub user: Option<String>,
    /// The namespace of the context, which kubectl uses unless a flag names another.
    pub namespace: Option<String>,
    /// The address of the API server.
    pub upstream: Upstream,
    /// `proxy-url`: the forward proxy to the API server. It takes precedence over that of the environment.
    pub forward_proxy: Option<ForwardProxy>,
    /// The CAs to check the API server's certificate with.
    pub ca: CaSource,
    /// Whether the kubeconfig disables that check. client-go rejects this flag together with a CA; kube-rs ignores the CA.
    pub insecure_skip_tls_verify: bool,
    /// The certificate that the user presents in the TLS handshake.
    pub client_certificate: Option<ClientCertificate>,
    /// The user's static token. Clients send it themselves; we use it only for our own requests.
    pub bearer_token: BearerToken,
    /// The user's name and password, which clients send themselves.
    pub basic_auth: Option<BasicAuth>,
    /// The plugin that clients run to get a credential. If it returns a token, the client sends the token through the proxy. If it
    /// returns a certificate, the proxy needs it, since the client's TLS ends there.
    pub exec_plugin: Option<ExecPlugin>,
    /// Whether the user has an `auth-provider` (such as `oidc`). Clients write its new tokens to the kubeconfig file that has the
    /// user's entry.
    pub auth_provider: bool,
    entries: Entries,
}

/// The entries that these values come from.
#[derive(Clone, Debug)]
struct Entries {
    cluster: Entry,
    user: Option<Entry>,
}

/// The CAs to check the API server's certificate with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaSource {
    /// `certificate-authority-data`: PEM text with at least one certificate.
    Data(Vec<u8>),
    /// `certificate-authority`.
    File {
        /// Its absolute path.
        path: PathBuf,
        /// Its contents: PEM text with at least one certificate.
        pem: Vec<u8>,
    },
    /// The cluster has no CA, so the system's trust store applies.
    SystemRoots,
}

/// A client certificate with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate and its issuers' certificates, as PEM text.
    pub certificate_pem: Vec<u8>,
    /// Its private key, as PEM text.
    pub key_pem: Secret,
}

/// A token in the kubeconfig or in a file that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BearerToken {
    /// Neither `token` nor `tokenFile` is set.
    None,
    /// `token` is set, and `tokenFile` is not.
    Inline(Secret),
    /// The absolute path in `tokenFile`. It takes precedence over `token`, and the file's contents change during a run
    /// (kubernetes/client-go `transport/round_trippers.go`).
    File(PathBuf),
}

/// Name and password for HTTP basic authentication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasicAuth {
    /// As in the kubeconfig.
    pub username: String,
    /// `password`; empty if it is not set.
    pub password: Secret,
}

impl Kubeconfig {
    /// Reads the current context, its cluster and its user, and the certificate files that they name.
    pub fn current(&self) -> Result<Selected, Error> {
        let (name, named_at) = self.current_context()?;
        self.selected(name, named_at)
    }

    /// Reads the context `name` in the same way as [`Self::current`].
    pub(super) fn context(&self, name: &str) -> Result<Selected, Error> {
        self.selected(name, &Location::new(Path::new("contexts"), name))
    }

    fn selected(&self, name: &str, named_at: &Location) -> Result<Selected, Error> {
        let context = self.find(Section::Contexts, name).ok_or_else(|| Error::UnknownContext {
            location: named_at.clone(),
            name: name.to_owned(),
            contexts: self.context_names(),
        })?;
        let names: Context = context.typed()?;
        let cluster = self.named_cluster(context, &names.cluster)?;
        let user = self.named_user(context, names.user.as_deref())?;
        let namespace = set(names.namespace.as_ref()).map(str::to_owned);
        Ok(Selected { namespace, ..Selected::read(context, cluster, user)? })
    }

    fn named_cluster(&self, context: &Entry, name: &str) -> Result<&Entry, Error> {
        let location = context.location.child("cluster");
        if name.is_empty() {
            return Err(Error::Missing { location, remedy: "name one of the clusters" });
        }
        self.find(Section::Clusters, name).ok_or_else(|| unknown(location, "cluster", name))
    }

    fn named_user(&self, context: &Entry, name: Option<&str>) -> Result<Option<&Entry>, Error> {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(None) };
        let location = context.location.child("user");
        self.find(Section::Users, name).ok_or_else(|| unknown(location, "user", name)).map(Some)
    }
}

fn unknown(location: Location, kind: &'static str, name: &str) -> Error {
    Error::UnknownEntry { location, kind, name: name.to_owned() }
}

impl Selected {
    /// Whether the client's copy of the kubeconfig has another credential for the user than the kubeconfig itself.
    pub(super) fn has_exchanged_credential(&self) -> bool {
        self.client_certificate.is_some() || self.exec_plugin.is_some()
    }

    /// The same API server, reached without `proxy-url`.
    #[must_use]
    pub fn without_forward_proxy(&self) -> Self {
        Self { forward_proxy: None, ..self.clone() }
    }

    /// Whether any CA, certificate or key is in a file, so that its contents may change.
    pub fn names_tls_files(&self) -> bool {
        let Entries { cluster, user } = &self.entries;
        pem::is_in_file(cluster, "certificate-authority")
            || user.as_ref().is_some_and(|user| ["client-certificate", "client-key"].iter().any(|name| pem::is_in_file(user, name)))
    }

    /// The same context with the current contents of its certificate and key files. Whether certificate and key match is not
    /// checked here.
    ///
    /// client-go reads them again, too: the certificate and its key at each handshake and every five minutes, since 1.36 also the
    /// CA (kubernetes/client-go `transport/cert_rotation.go`, `transport/transport.go`, `transport/ca_rotation.go`, v0.37).
    pub fn reread(&self) -> Result<Self, Error> {
        Ok(Self { ca: self.reread_ca()?, client_certificate: self.reread_client_certificate()?, ..self.clone() })
    }

    /// The certificate authority, with the current contents of its file.
    pub fn reread_ca(&self) -> Result<CaSource, Error> {
        CaSource::read(&self.entries.cluster)
    }

    /// The client certificate and its key, with the current contents of their files; `None` if the user has none.
    pub fn reread_client_certificate(&self) -> Result<Option<ClientCertificate>, Error> {
        self.entries.user.as_ref().map_or(Ok(None), ClientCertificate::read)
    }

    fn read(context: &Entry, cluster: &Entry, user: Option<&Entry>) -> Result<Self, Error> {
        let typed_cluster: Cluster = cluster.typed()?;
        let typed_user: AuthInfo = user.map_or_else(|| Ok(AuthInfo::default()), Entry::typed)?;
        let ca = CaSource::read(cluster)?;
        let client_certificate = user.map_or(Ok(None), ClientCertificate::read)?;
        let exec_plugin = user.map_or(Ok(None), |user| ExecPlugin::read(user, cluster, &ca))?;
        let insecure_skip_tls_verify = typed_cluster.insecure_skip_tls_verify.unwrap_or(false);
        let speaks_of_tls = insecure_skip_tls_verify || ca != CaSource::SystemRoots || client_certificate.is_some();
        Ok(Self {
            context: context.name.clone(),
            cluster: cluster.name.clone(),
            user: user.map(|user| user.name.clone()),
            namespace: None,
            upstream: upstream(cluster, &typed_cluster, speaks_of_tls)?,
            forward_proxy: forward_proxy(cluster, &typed_cluster)?,
            ca,
            insecure_skip_tls_verify,
            client_certificate,
            bearer_token: user.map_or(BearerToken::None, BearerToken::read),
            basic_auth: user.and_then(BasicAuth::read),
            exec_plugin,
            auth_provider: typed_user.auth_provider.is_some(),
            entries: Entries { cluster: cluster.clone(), user: user.cloned() },
        })
    }
}

/// Parses `server`. `speaks_of_tls` means that there is a CA, a client certificate or `insecure-skip-tls-verify`. client-go then
/// treats an address without a scheme as `https` (kubernetes/client-go `rest/url_utils.go`, `defaultServerUrlFor`).
fn upstream(entry: &Entry, cluster: &Cluster, speaks_of_tls: bool) -> Result<Upstream, Error> {
    let location = entry.location.child("server");
    let Some(server) = set(cluster.server.as_ref()) else {
        return Err(Error::Missing { location, remedy: "write the API server's address there, such as https://HOST:PORT" });
    };
    let (scheme, rest) = Scheme::split(&location, server)?;
    if scheme == Scheme::Http || (scheme == Scheme::Unsaid && !speaks_of_tls) {
        return Err(Error::PlainHttp { location, cluster: entry.name.clone() });
    }
    Upstream::parse(&entry.location, rest, set(cluster.tls_server_name.as_ref()))
}

/// Parses `proxy-url`. client-go accepts `http`, `https` and `socks5` here (kubernetes/client-go `tools/clientcmd/helpers.go`,
/// v0.34). In environment variables it also accepts `socks5h`, with the same meaning.
fn forward_proxy(entry: &Entry, cluster: &Cluster) -> Result<Option<ForwardProxy>, Error> {
    let parsed = set(cluster.proxy_url.as_ref()).map(ForwardProxy::parse).transpose();
    parsed.map_err(|source| Error::ProxyUrl { location: entry.location.child("proxy-url"), source })
}

/// client-go treats an empty string as not set.
fn set(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

impl CaSource {
    fn read(cluster: &Entry) -> Result<Self, Error> {
        let Some(loaded) = pem::load(cluster, "certificate-authority")? else { return Ok(Self::SystemRoots) };
        let loaded = loaded.with_certificate()?;
        Ok(match loaded.path {
            Some(path) => Self::File { path, pem: loaded.pem },
            None => Self::Data(loaded.pem),
        })
    }

    /// The PEM text of the CAs; `None` for the system's.
    pub fn pem(&self) -> Option<&[u8]> {
        match self {
            Self::Data(pem) | Self::File { pem, .. } => Some(pem),
            Self::SystemRoots => None,
        }
    }
}

impl ClientCertificate {
    /// Reads the user's certificate and key. As in client-go, a key without a certificate is ignored, and a certificate without a
    /// key is an error.
    fn read(user: &Entry) -> Result<Option<Self>, Error> {
        let Some(certificate) = pem::load(user, "client-certificate")? else { return Ok(None) };
        let Some(key) = pem::load(user, "client-key")? else {
            let remedy = "a client certificate needs its key: name the file there, or the key itself in client-key-data";
            return Err(Error::Missing { location: user.location.child("client-key"), remedy });
        };
        let certificate_pem = certificate.with_certificate()?.pem;
        let key_pem = Secret::new(key.with_private_key()?.pem);
        Ok(Some(Self { certificate_pem, key_pem }))
    }
}

impl BearerToken {
    fn read(user: &Entry) -> Self {
        match (user.text("tokenFile"), user.text("token")) {
            (Some(path), _) => Self::File(Path::new(path).to_owned()),
            (None, Some(token)) => Self::Inline(Secret::new(token)),
            (None, None) => Self::None,
        }
    }
}

impl BasicAuth {
    fn read(user: &Entry) -> Option<Self> {
        let username = user.text("username")?.to_owned();
        Some(Self { username, password: Secret::new(user.text("password").unwrap_or_default()) })
    }
}
