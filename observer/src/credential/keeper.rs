//! Remembers the certificates that exec plugins returned for each user, and issues a private certificate for each of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use super::exchange::{Plan, Question, Reply};
use crate::api_server::ClientCertificate;
use crate::tap::proxy::ProxyHandle;
use observer_pki::{ClientIdentity, PrivateAuthority};

/// The users of one run that have exec plugins.
#[derive(Debug, Default)]
pub struct Keeper {
    users: BTreeMap<String, PluginUser>,
}

/// A user with an exec plugin. Arguments may contain secrets, so `Debug` shows the command only.
pub struct PluginUser {
    command: String,
    arguments: Vec<String>,
    /// Issues private certificates for this user only.
    issuer: Arc<PrivateAuthority>,
    listeners: Vec<Listener>,
    last: Mutex<Option<Handed>>,
}

struct Listener {
    /// The address of the listener, as in the client's copy of the kubeconfig.
    server: String,
    original: Map<String, Value>,
    tap: ProxyHandle,
}

/// The certificate that the plugin returned last, and the private certificate issued for it.
struct Handed {
    certificate_pem: String,
    key_pem: String,
    identity: ClientIdentity,
}

impl PluginUser {
    /// A user with this plugin, without listeners. `issuer` issues private certificates for this user only.
    pub fn new(command: String, arguments: Vec<String>, issuer: Arc<PrivateAuthority>) -> Self {
        Self { command, arguments, issuer, listeners: Vec::new(), last: Mutex::new(None) }
    }

    /// Adds a listener of this user. `server` is its address in the clients' kubeconfig, and `original` is the cluster that it
    /// leads to.
    pub fn add_listener(&mut self, server: String, original: Map<String, Value>, tap: ProxyHandle) {
        self.listeners.push(Listener { server, original, tap });
    }

    fn plan(&self, server: Option<&str>) -> Plan {
        let known = self.listeners.iter().find(|listener| Some(listener.server.as_str()) == server);
        let cluster = known.map(|listener| listener.original.clone());
        Plan { command: self.command.clone(), arguments: self.arguments.clone(), cluster }
    }

    /// Presents the certificate upstream from now on, and returns the private certificate for the client. client-go reconnects if
    /// its plugin returns another certificate than before (`plugin/pkg/client/auth/exec/exec.go`, v0.34), and must do so here too.
    /// So each new certificate gets a new private certificate. The same certificate gets the same private certificate as before.
    fn exchange(&self, certificate_pem: String, key_pem: String) -> Result<Reply, String> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handed) = last.as_ref().filter(|handed| handed.certificate_pem == certificate_pem && handed.key_pem == key_pem)
        {
            return Ok(handed.answer());
        }
        let identity = self.issuer.issue_client().map_err(|error| error.to_string())?;
        let certificate = ClientCertificate { chain_pem: certificate_pem.clone().into(), key_pem: key_pem.clone().into() };
        for listener in &self.listeners {
            listener.tap.present(&certificate, &self.issuer).map_err(|error| error.to_string())?;
        }
        let handed = Handed { certificate_pem, key_pem, identity };
        Ok(last.insert(handed).answer())
    }
}

impl Handed {
    fn answer(&self) -> Reply {
        let ClientIdentity { certificate_pem, key_pem } = &self.identity;
        Reply::Certificate { certificate_pem: certificate_pem.clone(), key_pem: key_pem.clone() }
    }
}

impl Keeper {
    /// The user with this name in the kubeconfig. The first call for a name creates the user with `new`.
    pub fn user(&mut self, name: String, new: impl FnOnce() -> PluginUser) -> &mut PluginUser {
        self.users.entry(name).or_insert_with(new)
    }

    /// Whether no user has a plugin.
    pub fn is_empty(&self) -> bool {
        self.users.is_empty()
    }

    pub(super) fn answer(&self, question: Question) -> Reply {
        let (Question::Plan { user, .. } | Question::Certificate { user, .. }) = &question;
        let Some(known) = self.users.get(user) else {
            return Reply::No(format!("the kubeconfig of this run has no user `{user}` with an exec plugin"));
        };
        match question {
            Question::Plan { server, .. } => Reply::Plan(known.plan(server.as_deref())),
            Question::Certificate { certificate_pem, key_pem, .. } => {
                known.exchange(certificate_pem, key_pem).unwrap_or_else(Reply::No)
            }
        }
    }
}

impl std::fmt::Debug for PluginUser {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PluginUser").field("command", &self.command).finish_non_exhaustive()
    }
}
