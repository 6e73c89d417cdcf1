//! The bench command for watchtap's proxy without observing: the unchanged proxy of the library, without an intake.
//!
//! `watchtap` has no switch for this, because no user needs it. Here it separates the cost of forwarding from that of observing.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use observer_pki::PrivateAuthority;
use watchtap::api_server::{UpstreamEndpoint, UpstreamId, UpstreamTls, UpstreamTrust};
use watchtap::tap::Clock;
use watchtap::tap::proxy::{Admission, Descriptors, Entrance, Proxy, ProxyConfig};

use super::accepting::wait_for_end_of_input;

/// Forward, without observing, until standard input ends
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(long)]
    listen: u16,
    #[arg(long)]
    upstream: u16,
    #[arg(long)]
    authority: PathBuf,
}

/// Serves on a runtime like that of `watchtap`.
pub(crate) fn execute(args: &Args) -> Result<()> {
    let trust = UpstreamTrust::Authorities(fs::read(&args.authority)?);
    let config = ProxyConfig {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, args.listen)),
        upstream: UpstreamEndpoint { host: Ipv4Addr::LOCALHOST.to_string(), port: args.upstream },
        forward_proxy: None,
        upstream_tls: UpstreamTls::new(&trust, "127.0.0.1", None)?,
        upstream_id: UpstreamId::default(),
        upstream_files: None,
        authority: Arc::new(PrivateAuthority::generate()?),
        names: Vec::new(),
        entrance: Entrance::Server,
        admission: Admission::Anybody,
        container_name: None,
        intake: None,
        clock: Clock::start(),
        handshake_limit: ProxyConfig::HANDSHAKE_LIMIT,
        descriptors: Descriptors::within(None),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).thread_name("forwarding").enable_all().build()?;
    let proxy = Proxy::bind(config)?;
    runtime.spawn(proxy.serve());
    wait_for_end_of_input()
}
