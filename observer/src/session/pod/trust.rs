//! The folder that the app sees in place of its `ServiceAccount` volume: `ca.crt`, and links to the files of that volume, which is
//! moved aside. The token stays between the kubelet and the app: the links are resolved in the app's own mounts.

use std::time::Duration;

use anyhow::{Context, Result};
use rustix::fs::Mode;
use tokio::time::sleep;

use super::cluster_ca::ClusterCa;
use super::folder::Folder;
use crate::error_chain;
use crate::pod_layout::{MOVED_SERVICE_ACCOUNT, SERVICE_ACCOUNT};
use crate::printable::print_message;

/// The files that clients read besides `ca.crt`.
const LINKED: [&str; 2] = ["token", "namespace"];
/// The certificate of `OpenShift`'s services. Elsewhere its link would lead nowhere, and programs that read each file of the folder
/// would fail.
const SERVICE_CA: &str = "service-ca.crt";
const PUBLIC: Mode = Mode::from_bits_retain(0o644);

/// How often the cluster's CA is read again. A new CA signs no certificate before all clients can know it, which takes hours.
const READ_AGAIN: Duration = Duration::from_secs(5);

/// The folder, with the certificate of the pod's own authority.
#[derive(Debug)]
pub(in crate::session) struct Trust {
    folder: Folder,
    own_pem: String,
    cluster: ClusterCa,
    /// The cluster's CA in `ca.crt`.
    written: Vec<u8>,
}

impl Trust {
    /// Writes the files. Clients then trust the authority with the certificate `own_pem`, and the cluster's. So clients that
    /// connect to the API server directly work, too.
    pub(in crate::session) fn write(folder: Folder, own_pem: String, cluster: ClusterCa, with_service_ca: bool) -> Result<Self> {
        let written = cluster.read()?;
        let trust = Self { folder, own_pem, cluster, written };
        trust.write_ca(&trust.written)?;
        for name in LINKED.into_iter().chain(with_service_ca.then_some(SERVICE_CA)) {
            let target = target(name).context("the folders of the pod have no common parent")?;
            trust.folder.link(name, &target)?;
        }
        Ok(trust)
    }

    /// Writes `ca.crt` again whenever the cluster's CA changes.
    pub(in crate::session) async fn follow(mut self) {
        let mut reported = false;
        loop {
            sleep(READ_AGAIN).await;
            let updated = tokio::task::spawn_blocking(move || {
                let updated = self.update();
                (self, updated)
            });
            let (trust, updated) = match updated.await {
                Ok(done) => done,
                Err(error) => {
                    // The runtime cancels the task only when it ends itself.
                    if error.is_panic() {
                        print_message("ca.crt is not kept up to date any more because of an internal error; please report it");
                    }
                    return;
                }
            };
            self = trust;
            match updated {
                Ok(()) => reported = false,
                Err(error) if !reported => {
                    reported = true;
                    let why = error_chain::in_words(error.as_ref());
                    print_message(format!("ca.crt stays as it is: {why}"));
                }
                Err(_) => {}
            }
        }
    }

    fn update(&mut self) -> Result<()> {
        let current = self.cluster.read()?;
        if current != self.written {
            self.write_ca(&current)?;
            self.written = current;
            print_message("the cluster's CA has changed; ca.crt has the new one");
        }
        Ok(())
    }

    fn write_ca(&self, cluster: &[u8]) -> Result<()> {
        let mut bundle = self.own_pem.clone().into_bytes();
        bundle.extend_from_slice(cluster);
        self.folder.write("ca.crt", &bundle, PUBLIC)
    }
}

/// The relative path from the folder that clients read to a file of the volume that was moved aside.
fn target(name: &str) -> Option<String> {
    const COMMON: &str = "/var/run/secrets/";
    let (from, to) = (SERVICE_ACCOUNT.strip_prefix(COMMON)?, MOVED_SERVICE_ACCOUNT.strip_prefix(COMMON)?);
    let up = "../".repeat(from.split('/').count());
    Some(format!("{up}{to}/{name}"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};
    use std::path::{Path, PathBuf};

    use observer_pki::PrivateAuthority;

    use super::*;

    /// The cluster's CA as the kubelet publishes it: behind a link that is swapped.
    struct Volume(tempfile::TempDir);

    impl Volume {
        fn new(pem: &str) -> Self {
            let volume = Self(tempfile::tempdir().unwrap());
            volume.publish("..1", pem);
            symlink("..data/ca.crt", volume.file()).unwrap();
            volume
        }

        fn publish(&self, version: &str, pem: &str) {
            let path = |name: &str| self.0.path().join(name);
            fs::create_dir(path(version)).unwrap();
            fs::write(path(version).join("ca.crt"), pem).unwrap();
            symlink(version, path("..data_tmp")).unwrap();
            fs::rename(path("..data_tmp"), path("..data")).unwrap();
        }

        fn file(&self) -> PathBuf {
            self.0.path().join("ca.crt")
        }
    }

    fn pem() -> String {
        PrivateAuthority::generate().unwrap().certificate_pem()
    }

    fn trust(folder: &Path, own: &str, volume: &Volume) -> Result<Trust> {
        Trust::write(Folder::open(folder, "for a test")?, own.to_owned(), ClusterCa::open(&volume.file())?, false)
    }

    #[test]
    fn clients_trust_both_authorities_and_find_their_token_by_links() {
        let [own, cluster] = [pem(), pem()];
        let (folder, volume) = (tempfile::tempdir().unwrap(), Volume::new(&cluster));
        for _restart in 0..2 {
            trust(folder.path(), &own, &volume).unwrap();
            let ca = folder.path().join("ca.crt");
            assert_eq!(fs::read_to_string(&ca).unwrap(), own.clone() + &cluster);
            assert_eq!(fs::metadata(&ca).unwrap().mode() & 0o7777, 0o644);
            for name in LINKED {
                let link = fs::read_link(folder.path().join(name)).unwrap();
                assert_eq!(link, Path::new(&format!("../../watchtap/serviceaccount/{name}")));
            }
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), LINKED.len() + 1, "no link leads nowhere");
        }
    }

    #[test]
    fn changed_cluster_ca_is_written_and_an_unusable_one_is_not() {
        let [own, first, second] = [pem(), pem(), pem()];
        let (folder, volume) = (tempfile::tempdir().unwrap(), Volume::new(&first));
        let mut trust = trust(folder.path(), &own, &volume).unwrap();
        let written = || fs::read_to_string(folder.path().join("ca.crt")).unwrap();
        volume.publish("..2", "no certificate");
        assert!(format!("{:#}", trust.update().unwrap_err()).contains("contains no certificate"));
        assert_eq!(written(), own.clone() + &first);
        volume.publish("..3", &second);
        trust.update().unwrap();
        assert_eq!(written(), own + &second);
        let inode = || fs::metadata(folder.path().join("ca.crt")).unwrap().ino();
        let before = inode();
        trust.update().unwrap();
        assert_eq!(inode(), before, "nothing has changed");
    }

    #[test]
    fn missing_cluster_ca_is_an_error_that_names_the_file() {
        let (folder, volume) = (tempfile::tempdir().unwrap(), Volume::new(""));
        let error = format!("{:#}", trust(folder.path(), &pem(), &volume).unwrap_err());
        for words in ["contains no certificate", "/ca.crt", "mount the ConfigMap kube-root-ca.crt there"] {
            assert!(error.contains(words), "{error}");
        }
        assert!(!folder.path().join("ca.crt").exists());
    }
}
