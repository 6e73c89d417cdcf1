//! The flag that serves metrics, for every command that observes or replays.

use std::io;
use std::net::SocketAddr;

use anyhow::{Error, Result, anyhow};
use clap::Args;
use observer_core::series::TapWord;

use crate::memory_budget::MemoryBudget;
use crate::metrics::{MetricsReader, MetricsServer};
use crate::pipeline::SeriesReader;
use crate::printable::print_message;
use crate::session::DECLARE_PORT;

/// Where to serve metrics.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct MetricsFlags {
    /// Serve metrics for Prometheus at http://ADDRESS:PORT/metrics, such as 127.0.0.1:9643 (docs/metrics.md); port 0 stands for any
    /// free port, [::] for all addresses of this machine, IPv6 and IPv4. There is no authentication: every program that reaches the
    /// address can read the names of clients, service accounts, resources and API servers, but of no object
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    metrics: Option<SocketAddr>,
}

impl MetricsFlags {
    /// Serves the series of `reader`, and prints the address; `None` without the flag.
    pub(crate) fn serve(
        self,
        reader: impl FnOnce() -> SeriesReader,
        tap: TapWord,
        memory: &MemoryBudget,
    ) -> Result<Option<MetricsServer>> {
        let Some(address) = self.metrics else { return Ok(None) };
        let server = MetricsServer::start(address, MetricsReader::new(reader(), tap), memory.metrics_page)
            .map_err(|error| failed(address, error))?;
        let address = server.address();
        let who = if address.ip().to_canonical().is_loopback() { "" } else { ", for everyone who can reach this address" };
        print_message(format!("metrics: http://{address}/metrics{who}"));
        Ok(Some(server))
    }
}

fn failed(address: SocketAddr, error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::AddrInUse {
        return anyhow!("--metrics {address} is in use by another process; choose another port. In a pod, {DECLARE_PORT}");
    }
    Error::new(error).context(format!("cannot serve --metrics on {address}"))
}

/// Parses `ADDRESS:PORT` for clap, which adds the flag to an error. An address that other machines reach has to be given as such, so
/// there is no short form.
fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_error| "expected ADDRESS:PORT, such as 127.0.0.1:9643 or [::1]:9643".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_need_an_address_and_a_port() {
        for text in ["127.0.0.1:9643", "[::1]:0", "0.0.0.0:9643"] {
            assert_eq!(address(text).unwrap().to_string(), text);
        }
        for text in ["", "9643", ":9643", "127.0.0.1", "localhost:9643", "http://127.0.0.1:9643"] {
            assert!(address(text).unwrap_err().contains("such as 127.0.0.1:9643"), "{text}");
        }
    }
}
