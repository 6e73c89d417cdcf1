//! Reads the client certificate and bearer token of a kubeconfig's user, for watchtap's own requests to the API server.

use std::fs::File;
use std::io::Read;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::timeout;

use super::ClientCertificate;
use crate::exec_plugin::PluginCredential;
use crate::kubeconfig::{self, BearerToken, Selected};

/// Maximum number of bytes read from a token file; later bytes are ignored.
const MAX_TOKEN: u64 = 64 * 1024;

/// Credentials of a kubeconfig's user for our own requests: from the kubeconfig and its files, or from an exec plugin.
pub(super) struct Credentials {
    pub(super) certificate: Option<ClientCertificate>,
    pub(super) token: Option<String>,
}

impl Credentials {
    /// Returns the user's credentials, or `None` if the user has none. A token that cannot be read counts as none.
    pub(super) fn of(selected: &Selected) -> Option<Self> {
        let (certificate, token) = (certificate(selected), token(selected).ok().flatten());
        Self::with(certificate, token)
    }

    /// Returns the user's credentials, or `None` if the user has none. A token that cannot be read is an error.
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

/// Reads the context's certificate files again, because their contents in `selected` may be hours old, and returns the user's
/// credentials with it. If the certificates cannot be read, the old contents stay. If reading takes more than 1 s, `selected` is
/// returned unchanged, without credentials.
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
