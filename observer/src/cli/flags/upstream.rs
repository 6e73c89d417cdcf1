//! Flags that select the API servers behind a tap, and the addresses of its listeners.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};

use crate::kubeconfig::{Environment, Kubeconfig, ServerTrust, Via};
use crate::session::ListenerOptions;

/// Where clients connect, and where they are forwarded.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct UpstreamFlags {
    #[command(flatten)]
    kubeconfig: KubeconfigFlags,

    /// The API server, as https://HOST:PORT[/PATH], without a kubeconfig; clients bring their own credentials
    #[arg(long, value_name = "URL", conflicts_with_all = ["kubeconfig", "context"])]
    upstream: Option<String>,

    /// PEM file of CA certificates that verify the certificate of --upstream (default: the system's trust store)
    #[arg(long, value_name = "FILE", requires = "upstream", conflicts_with = "upstream_insecure")]
    upstream_ca: Option<PathBuf>,

    /// Do not verify the certificate of --upstream
    #[arg(long, requires = "upstream")]
    upstream_insecure: bool,

    /// Which field of the clients' kubeconfig points them to watchtap. With `server`, the Host header carries watchtap's address; use
    /// `proxy-url` for gateways that route by host
    #[arg(long, value_enum, default_value_t)]
    via: ViaFlag,

    /// Loopback address and port to which clients of the current context connect; port 0 stands for any free port. Other contexts
    /// get the same address, each with a free port
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = loopback)]
    listen: Option<SocketAddr>,
}

/// Selects a kubeconfig, and the context in it.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct KubeconfigFlags {
    /// Kubeconfig file to use (default: those in KUBECONFIG, or ~/.kube/config)
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Context to use (default: the kubeconfig's current-context)
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum ViaFlag {
    /// `server` is watchtap's address
    #[default]
    Server,
    /// `proxy-url` is watchtap's address; `server` stays as it is
    ProxyUrl,
}

impl UpstreamFlags {
    /// How clients reach the listeners.
    pub(crate) fn listener_options(&self) -> ListenerOptions {
        ListenerOptions { address: self.listen, via: self.via() }
    }

    /// How the client's kubeconfig leads here.
    pub(crate) fn via(&self) -> Via {
        match self.via {
            ViaFlag::Server => Via::Server,
            ViaFlag::ProxyUrl => Via::ProxyUrl,
        }
    }

    /// The kubeconfig that the flags or the environment select.
    pub(crate) fn kubeconfig(&self) -> Result<Kubeconfig> {
        if let Some(server) = &self.upstream {
            return Ok(Kubeconfig::of_server(server, &self.trust()?, "--upstream")?);
        }
        self.kubeconfig.load()
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
    /// Whether a flag selects a kubeconfig or a context.
    pub(super) fn is_given(&self) -> bool {
        self.kubeconfig.is_some() || self.context.is_some()
    }

    #[cfg(test)]
    pub(super) fn of_file(file: PathBuf) -> Self {
        Self { kubeconfig: Some(file), context: None }
    }
}

impl KubeconfigFlags {
    /// The kubeconfig that the flags or the environment select.
    pub(crate) fn load(&self) -> Result<Kubeconfig> {
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

/// Refuses other addresses than loopback, so that only clients on this machine connect. The certificate that clients see is for
/// loopback, and every client of a listener reaches the API server from this machine.
fn loopback(text: &str) -> Result<SocketAddr> {
    let address: SocketAddr = text.parse().context("expected ADDRESS:PORT, such as 127.0.0.1:7443")?;
    let named_in_certificate = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)].contains(&address.ip());
    ensure!(named_in_certificate, "{} is not the loopback address; listen on 127.0.0.1 or [::1]", address.ip());
    Ok(address)
}
