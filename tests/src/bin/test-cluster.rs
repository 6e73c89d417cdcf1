//! Runs a cluster until its standard input ends, for trying things by hand: `cargo run -p observer-tests --bin test-cluster`.
//!
//! Its arguments are further flags of kube-apiserver. The first line on standard output is a JSON object with what a
//! client needs.

use std::io::{self, Read, Write};

use anyhow::Result;
use observer_tests::{Cluster, Options};
use serde_json::json;

fn main() -> Result<()> {
    let api_server_arguments = std::env::args().skip(1).collect();
    let cluster = Cluster::start(&Options { api_server_arguments, ..Options::default() })?;
    let description = json!({
        "server": cluster.server_url(),
        "version": cluster.version(),
        "kubeconfig": cluster.kubeconfig_token()?,
        "processes": cluster.process_ids(),
    });
    writeln!(io::stdout(), "{description}")?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
