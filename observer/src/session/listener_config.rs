//! The configuration of one listener, from a context of the kubeconfig.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Result;

use crate::api_server::{UpstreamId, certificate, endpoint, forward_proxy, upstream_files, upstream_tls};
use crate::intake::Intake;
use crate::kubeconfig::Selected;
use crate::tap::Clock;
use crate::tap::proxy::{Admission, Descriptors, Entrance, ProxyConfig};
use observer_pki::PrivateAuthority;

/// A listener on `listen` in front of a context's API server. If the user has a client certificate, the tap presents it upstream,
/// so `admission` must not be `Anybody` then.
pub(super) fn proxy_config(
    selected: &Selected,
    authority: Arc<PrivateAuthority>,
    admission: Admission,
    listen: SocketAddr,
    intake: Intake,
    clock: Clock,
    descriptors: Descriptors,
) -> Result<ProxyConfig> {
    Ok(ProxyConfig {
        listen,
        upstream_id: UpstreamId::default(),
        upstream: endpoint(selected),
        forward_proxy: forward_proxy(selected)?,
        upstream_tls: upstream_tls(selected, certificate(selected).as_ref())?,
        upstream_files: upstream_files(selected)?,
        authority,
        entrance: Entrance::Server,
        admission,
        intake: Some(intake),
        clock,
        handshake_limit: ProxyConfig::HANDSHAKE_LIMIT,
        descriptors,
    })
}
