//! Makes the TLS configuration for an API server from a context of a kubeconfig.

use anyhow::{Context, Result, bail};

use super::{ClientCertificate, UpstreamFiles, UpstreamIdentity, UpstreamReading, UpstreamTls, UpstreamTrust};
use crate::api_server::credentials::{certificate, presented};
use crate::kubeconfig::{CaSource, Selected};

pub(crate) fn upstream_tls(selected: &Selected, certificate: Option<&ClientCertificate>) -> Result<UpstreamTls> {
    let trust = trust(selected, &selected.ca)?;
    let upstream = &selected.upstream;
    let name = upstream.tls_server_name.as_deref().unwrap_or(&upstream.host);
    UpstreamTls::new(&trust, name, certificate).with_context(|| format!("cluster `{}`", selected.cluster))
}

fn trust(selected: &Selected, ca: &CaSource) -> Result<UpstreamTrust> {
    Ok(match (selected.insecure_skip_tls_verify, ca.pem()) {
        (true, Some(_)) => bail!(
            "cluster `{}` has both a certificate authority and insecure-skip-tls-verify, which kubectl refuses; remove one of them",
            selected.cluster
        ),
        (true, None) => UpstreamTrust::Anybody,
        (false, Some(pem)) => UpstreamTrust::Authorities(pem.to_vec()),
        (false, None) => UpstreamTrust::Native,
    })
}

/// Returns the certificate files that the context names, or `None` if the kubeconfig itself contains all of its certificates.
pub(crate) fn upstream_files(selected: &Selected) -> Result<Option<UpstreamFiles>> {
    if !selected.names_tls_files() {
        return Ok(None);
    }
    let held = UpstreamIdentity { trust: trust(selected, &selected.ca)?, certificate: certificate(selected) };
    let named = selected.clone();
    let read = move || UpstreamReading {
        trust: named.reread_ca().map_err(Into::into).and_then(|ca| Ok(trust(&named, &ca)?)),
        certificate: named.reread_client_certificate().map(|held| held.as_ref().map(presented)).map_err(Into::into),
    };
    Ok(Some(UpstreamFiles::new(held, read)))
}
