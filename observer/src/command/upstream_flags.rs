//! Flags that say which API servers a tap stands in front of, and where it listens.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};

use crate::kubeconfig::{Environment, Kubeconfig, ServerTrust, Via};

/// Where clients come in, and where they go.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct UpstreamFlags {
    /// The context that is current for the client, in place of the kubeconfig's
    #[arg(long, value_name = "NAME", conflicts_with = "upstream")]
    context: Option<String>,

    /// The API server, as https://HOST:PORT[/PATH], without a kubeconfig; clients bring their own credentials
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,

    /// What its certificate is checked against, in PEM; without it, what the system trusts
    #[arg(long, value_name = "FILE", requires = "upstream", conflicts_with = "upstream_insecure")]
    upstream_ca: Option<PathBuf>,

    /// Do not check its certificate
    #[arg(long, requires = "upstream")]
    upstream_insecure: bool,

    /// How the client's kubeconfig leads here: its `server` (which then is the Host that the API server sees), or its `proxy-url`, for
    /// gateways that route by host
    #[arg(long, value_enum, default_value_t)]
    via: ViaFlag,

    /// Where to listen for clients of the current context, on loopback; other contexts get ports of their own at that address, and with port 0
    /// so does the current one
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = loopback)]
    listen: Option<SocketAddr>,
}

/// [`Via`] as a flag.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum ViaFlag {
    /// `server` is watchtap
    #[default]
    Server,
    /// `server` stays, `proxy-url` is watchtap
    ProxyUrl,
}

impl UpstreamFlags {
    /// How clients are led here.
    pub(super) fn via(&self) -> Via {
        match self.via {
            ViaFlag::Server => Via::Server,
            ViaFlag::ProxyUrl => Via::ProxyUrl,
        }
    }

    /// The kubeconfig that the flags or the environment lead to.
    pub(super) fn kubeconfig(&self) -> Result<Kubeconfig> {
        if let Some(server) = &self.upstream {
            return Ok(Kubeconfig::of_server(server, &self.trust()?, "--upstream")?);
        }
        user_kubeconfig(self.context.as_deref())
    }

    /// Where the listener of the current context is to be.
    pub(super) fn listen(&self) -> Option<SocketAddr> {
        self.listen
    }

    fn trust(&self) -> Result<ServerTrust> {
        Ok(match &self.upstream_ca {
            Some(file) => ServerTrust::Authority(std::path::absolute(file).context("--upstream-ca")?),
            None if self.upstream_insecure => ServerTrust::Anybody,
            None => ServerTrust::SystemRoots,
        })
    }
}

/// The kubeconfig that the environment leads to, with the context that `--context` names as its current one.
pub(super) fn user_kubeconfig(context: Option<&str>) -> Result<Kubeconfig> {
    let kubeconfig = Kubeconfig::load(&environment()?)?;
    Ok(match context {
        Some(name) => kubeconfig.with_current_context(name, "--context"),
        None => kubeconfig,
    })
}

/// Nobody beyond this machine is let in: the certificate that clients see is for loopback, and who reaches a listener speaks to the API
/// server from here.
fn loopback(text: &str) -> Result<SocketAddr> {
    let address: SocketAddr = text.parse().context("expected ADDRESS:PORT, such as 127.0.0.1:7443")?;
    let named_in_certificate = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)].contains(&address.ip());
    ensure!(named_in_certificate, "{} is not the loopback address; listen on 127.0.0.1 or [::1]", address.ip());
    Ok(address)
}

fn environment() -> Result<Environment> {
    Ok(Environment {
        kubeconfig: std::env::var_os("KUBECONFIG"),
        home: std::env::home_dir(),
        working_directory: std::env::current_dir().context("the working directory is gone")?,
    })
}
