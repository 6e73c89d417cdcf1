//! Access to the API server of a test cluster, for tests on this machine and in virtual machines.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::client::{Client, Connections};
use crate::cluster::Cluster;
use crate::credentials::{ADMIN_TOKEN, CLIENTS, LOOPBACK_OUTSIDE, client_token, client_user};
use crate::kubeconfig;

/// The environment variable that names a file of [`ServerAccess::write`]. A virtual machine has it.
pub const SERVER_ACCESS: &str = "WATCHTAP_TESTS_SERVER_ACCESS";

/// Address, authority and version of an API server. The users are those of every test cluster.
#[derive(Clone, Debug)]
pub struct ServerAccess {
    address: SocketAddr,
    authority: String,
    version: String,
}

impl ServerAccess {
    /// From this machine.
    pub fn to(cluster: &Cluster) -> Self {
        Self { address: cluster.socket_address(), authority: cluster.ca_pem().to_owned(), version: cluster.version().to_owned() }
    }

    /// From a virtual machine to a cluster on the loopback of this machine.
    pub fn from_guest(cluster: &Cluster) -> Result<Self> {
        Ok(Self { address: SocketAddr::new(LOOPBACK_OUTSIDE.parse()?, cluster.port()), ..Self::to(cluster) })
    }

    /// Reads the file that [`SERVER_ACCESS`] names, if it is set.
    pub fn given() -> Result<Option<Self>> {
        std::env::var_os(SERVER_ACCESS).map(|file| Self::read(Path::new(&file))).transpose()
    }

    fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let access: Value = serde_json::from_str(&text)?;
        let field = |name: &str| {
            let text = access[name].as_str().with_context(|| format!("{} has no {name}", file.display()));
            text.map(str::to_owned)
        };
        Ok(Self { address: field("address")?.parse()?, authority: field("authority")?, version: field("version")? })
    }

    /// Writes a file for [`ServerAccess::given`].
    pub fn write(&self, file: &Path) -> Result<()> {
        let access = json!({ "address": self.address.to_string(), "authority": self.authority, "version": self.version });
        fs::write(file, access.to_string()).with_context(|| format!("cannot write {}", file.display()))
    }

    /// The address of the API server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The CA that signed its certificate, PEM.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The version that it reports, as in `v1.34.4`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Bearer token of `admin`, a member of `system:masters`.
    pub fn admin_token(&self) -> &'static str {
        ADMIN_TOKEN
    }

    /// A client of `admin` that keeps its connection.
    pub fn client_for_bulk(&self) -> Result<Client> {
        Client::with_token(&format!("https://{}", self.address), &self.authority, ADMIN_TOKEN, Connections::Kept)
    }

    /// A kubeconfig of the user `client-NUMBER`, one of 64 members of `system:masters`. `server` (URL) and `authority` (PEM) may belong to
    /// another server.
    pub fn kubeconfig_of_client(&self, number: usize, server: &str, authority: &str) -> Result<String> {
        anyhow::ensure!(number < CLIENTS, "there are {CLIENTS} clients");
        Ok(kubeconfig::with_token(server, authority, &client_user(number), &client_token(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_access_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("access");
        let written =
            ServerAccess { address: "10.0.2.2:6443".parse().unwrap(), authority: "PEM\n".into(), version: "v1.34.4".into() };
        written.write(&file).unwrap();
        let read = ServerAccess::read(&file).unwrap();
        assert_eq!((read.address(), read.authority(), read.version()), (written.address(), "PEM\n", "v1.34.4"));
    }
}
