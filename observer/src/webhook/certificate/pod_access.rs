//! The API server and the credential of a pod: environment, CA and token as the kubelet provides them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::identity::Identity;
use crate::api_server::request::{Conversation, Conversations};
use crate::api_server::{ServiceInPod, UpstreamEndpoint};
use crate::bounded_file;
use crate::kubeconfig::BearerToken;
use crate::pod_layout::SERVICE_ACCOUNT;

const TOKEN: &str = "token";
const AUTHORITY: &str = "ca.crt";
/// Maximum size of each file in bytes.
const LARGEST: u64 = 256 << 10;

/// How a pod reaches its API server. The files are read again for each connection, because the kubelet renews them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodAccess {
    at: UpstreamEndpoint,
    folder: PathBuf,
}

impl PodAccess {
    /// The API server and the credential of this pod. The error states what is missing.
    pub fn of_environment() -> Result<Self> {
        Ok(Self::new(ServiceInPod::required()?.at, Path::new(SERVICE_ACCOUNT)))
    }

    /// An API server, and a folder with `ca.crt` and `token`.
    pub fn new(at: UpstreamEndpoint, folder: &Path) -> Self {
        Self { at, folder: folder.to_owned() }
    }

    /// Opens a connection, as the user of the token.
    pub(super) async fn open(&self) -> Result<Conversation> {
        // Without a token, the requests would be anonymous. Errors about a kubeconfig would mislead, since there is none.
        for name in [TOKEN, AUTHORITY] {
            self.read(name).context(MOUNT)?;
        }
        let service = ServiceInPod { at: self.at.clone(), authority: Some(self.folder.join(AUTHORITY)) };
        let mut selected = service.selected()?;
        selected.bearer_token = BearerToken::File(self.folder.join(TOKEN));
        Conversations::with(selected).open().await
    }

    /// The account and the pod of the current token; none if it cannot be read.
    pub(super) fn identity(&self) -> Identity {
        self.read(TOKEN).map(|token| Identity::of_token(&token)).unwrap_or_default()
    }

    fn read(&self, name: &str) -> Result<Vec<u8>> {
        let file = self.folder.join(name);
        bounded_file::read(&file, LARGEST).with_context(|| format!("cannot read {}", file.display()))
    }
}

const MOUNT: &str = "the pod has no credential; set automountServiceAccountToken: true in its spec";
