//! Runs a cluster until its standard input closes, for manual experiments: `cargo run -p observer-tests --bin test-cluster`.
//!
//! Its arguments are further flags of kube-apiserver. The minor may precede them, as in `test-cluster 33`. The first line on
//! standard output is a JSON object with the data that a client needs.

use std::io::{self, Read, Write};

use anyhow::Result;
use observer_tests::{Cluster, Minor, Options};
use serde_json::json;

fn main() -> Result<()> {
    let mut api_server_arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut options = Options::default();
    if let Some(minor) = api_server_arguments.first().and_then(|argument| argument.parse().ok()) {
        options.minor = Minor(minor);
        api_server_arguments.remove(0);
    }
    let cluster = Cluster::start(&Options { api_server_arguments, ..options })?;
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
