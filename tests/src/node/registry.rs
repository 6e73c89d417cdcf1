//! A registry of images in the network of a node, for commands that push an image, and for the pull of the kubelet.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::isolation::Part;
use super::running::Node;
use crate::bounded::output_within;
use crate::credentials;
use crate::programs;

const READY_WITHIN: Duration = Duration::from_secs(30);
const ADDRESS: &str = "127.0.0.1";
/// The usual port of registries without a certificate of their own: the API server listens at that of HTTPS.
const PORT: u16 = 5000;

/// A running registry, which ends when this is dropped.
#[derive(Debug)]
pub struct Registry {
    _registry: Part,
    authority: PathBuf,
}

impl Node {
    /// Starts a registry at this host and port. Programs on the node find it by that name. Call it once for each node.
    pub fn registry(&self, host: &str) -> Result<Registry> {
        let name = host.strip_suffix(&format!(":{PORT}")).with_context(|| format!("{host} has another port than {PORT}"))?;
        let folder = self.folder().join("registry");
        fs::create_dir(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let write = |name: &str, content: &str| -> Result<PathBuf> {
            let path = folder.join(name);
            fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
            Ok(path)
        };
        let authority = credentials::authority()?;
        let identity = credentials::server(&authority, "registry", &[name])?;
        let (certificate, key) = (write("server.crt", &identity.certificate)?, write("server.key", &identity.key)?);
        let settings = write("settings.yaml", &document(&folder.join("images"), &certificate, &key))?;
        self.resolve(name, &write("hosts", &format!("127.0.0.1 localhost\n{ADDRESS} {name}\n"))?)?;
        // containerd trusts the certificates in the folder of the registry's name.
        let trusted = self.registries().join(host);
        fs::create_dir_all(&trusted)?;
        let authority_file = trusted.join("ca.crt");
        fs::write(&authority_file, authority.pem())?;
        let program = programs::require("docker-registry", "to push images (Debian: docker-registry)")?;
        let arguments = ["serve".to_owned(), settings.display().to_string()];
        let mut registry = self.start_program("registry", &program, &arguments)?;
        let address = format!("{ADDRESS}:{PORT}").parse()?;
        registry.wait_until(READY_WITHIN, || self.connect(address).is_ok())?;
        Ok(Registry { _registry: registry, authority: authority_file })
    }

    /// Lets the programs on the node resolve `name`, in the mounts of the node alone.
    fn resolve(&self, name: &str, hosts: &Path) -> Result<()> {
        let mut mount = self.command(&programs::require("mount", "to give a registry its name")?)?;
        let output = output_within(mount.arg("--bind").arg(hosts).arg("/etc/hosts"), READY_WITHIN)?;
        ensure!(output.status.success(), "{name} gets no address: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }
}

impl Registry {
    /// The certificate of the registry's authority, PEM.
    pub fn authority(&self) -> &Path {
        &self.authority
    }
}

fn document(images: &Path, certificate: &Path, key: &Path) -> String {
    format!(
        "version: 0.1
log: {{level: warn}}
storage: {{filesystem: {{rootdirectory: '{}'}}}}
http:
  addr: {ADDRESS}:{PORT}
  tls: {{certificate: '{}', key: '{}'}}
",
        images.display(),
        certificate.display(),
        key.display()
    )
}
