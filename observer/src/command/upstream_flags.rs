//! Flags that say which API servers a tap stands in front of, and where it listens.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};

use crate::kubeconfig::{Environment, Kubeconfig, ServerTrust, Via};

/// Where clients come in, and where they go.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct UpstreamFlags {
    #[command(flatten)]
    kubeconfig: KubeconfigFlags,

    /// The API server, as https://HOST:PORT[/PATH], without a kubeconfig; clients bring their own credentials
    #[arg(long, value_name = "URL", conflicts_with_all = ["kubeconfig", "context"])]
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

/// Which kubeconfig, and what of it.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct KubeconfigFlags {
    /// The kubeconfig, in place of those that KUBECONFIG names, or ~/.kube/config
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// The context that is current, in place of the kubeconfig's
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
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
        self.kubeconfig.load()
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

#[cfg(all(target_os = "linux", feature = "ebpf"))]
impl KubeconfigFlags {
    /// Whether one was asked for by a flag.
    pub(super) fn is_given(&self) -> bool {
        self.kubeconfig.is_some() || self.context.is_some()
    }

    #[cfg(test)]
    pub(super) fn of_file(file: PathBuf) -> Self {
        Self { kubeconfig: Some(file), context: None }
    }
}

impl KubeconfigFlags {
    /// The kubeconfig that the flags or the environment lead to.
    pub(super) fn load(&self) -> Result<Kubeconfig> {
        let kubeconfig = Kubeconfig::load(&self.environment()?)?;
        Ok(match &self.context {
            Some(name) => kubeconfig.with_current_context(name, "--context"),
            None => kubeconfig,
        })
    }

    fn environment(&self) -> Result<Environment> {
        let given = self.kubeconfig.as_ref().map(|file| std::env::join_paths([file]).context("--kubeconfig")).transpose()?;
        Ok(Environment {
            kubeconfig: given.or_else(|| std::env::var_os("KUBECONFIG")),
            home: std::env::home_dir(),
            working_directory: std::env::current_dir().context("the working directory is gone")?,
        })
    }
}

/// Nobody beyond this machine is let in: the certificate that clients see is for loopback, and who reaches a listener speaks to the API
/// server from here.
fn loopback(text: &str) -> Result<SocketAddr> {
    let address: SocketAddr = text.parse().context("expected ADDRESS:PORT, such as 127.0.0.1:7443")?;
    let named_in_certificate = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)].contains(&address.ip());
    ensure!(named_in_certificate, "{} is not the loopback address; listen on 127.0.0.1 or [::1]", address.ip());
    Ok(address)
}
