//! The credentials of a kubeconfig's user that requests of ours present.

use std::fs::File;
use std::io::Read;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::timeout;

use super::ClientCertificate;
use crate::exec_plugin::PluginCredential;
use crate::kubeconfig::{self, BearerToken, Selected};

/// Longest token file that is read, in bytes.
const MAX_TOKEN: u64 = 64 * 1024;

/// Credentials of a kubeconfig's user that we can present without a plugin.
pub(super) struct Credentials {
    pub(super) certificate: Option<ClientCertificate>,
    pub(super) token: Option<String>,
}

impl Credentials {
    /// `None` if there are none, or they cannot be read.
    pub(super) fn of(selected: &Selected) -> Option<Self> {
        let (certificate, token) = (certificate(selected), token(selected).ok().flatten());
        Self::with(certificate, token)
    }

    /// `None` if there are none.
    pub(super) fn read(selected: &Selected) -> Result<Option<Self>> {
        Ok(Self::with(certificate(selected), token(selected)?))
    }

    fn with(certificate: Option<ClientCertificate>, token: Option<String>) -> Option<Self> {
        (certificate.is_some() || token.is_some()).then_some(Self { certificate, token })
    }
}

impl From<PluginCredential> for Credentials {
    fn from(credential: PluginCredential) -> Self {
        let certificate = credential
            .certificate
            .map(|(chain, key)| ClientCertificate { chain_pem: chain.into_bytes(), key_pem: key.into_bytes() });
        Self { certificate, token: credential.token }
    }
}

/// The context with the current contents of its certificate files, since the last reading may be hours old, and its credentials.
/// If the certificates cannot be read, the old contents stay. If reading takes more than 1 s, there are no credentials.
pub(super) async fn reread(selected: &Selected) -> (Selected, Option<Credentials>) {
    const READ_WITHIN: Duration = Duration::from_secs(1);
    let named = selected.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let selected = named.reread().unwrap_or(named);
        let credentials = Credentials::of(&selected);
        (selected, credentials)
    });
    match timeout(READ_WITHIN, reading).await {
        Ok(Ok(read)) => read,
        Ok(Err(_)) | Err(_) => (selected.clone(), None),
    }
}

pub(crate) fn certificate(selected: &Selected) -> Option<ClientCertificate> {
    selected.client_certificate.as_ref().map(presented)
}

pub(super) fn presented(held: &kubeconfig::ClientCertificate) -> ClientCertificate {
    ClientCertificate { chain_pem: held.certificate_pem.clone(), key_pem: held.key_pem.expose().to_vec() }
}

fn token(selected: &Selected) -> Result<Option<String>> {
    let bytes = match &selected.bearer_token {
        BearerToken::None => return Ok(None),
        BearerToken::Inline(token) => token.expose().to_vec(),
        BearerToken::File(path) => {
            let mut token = Vec::new();
            let read = File::open(path).and_then(|file| file.take(MAX_TOKEN).read_to_end(&mut token));
            read.with_context(|| format!("cannot read the token of the kubeconfig's user, {}", path.display()))?;
            token
        }
    };
    Ok(String::from_utf8(bytes).ok().map(|token| token.trim().to_owned()))
}
