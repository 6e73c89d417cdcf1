//! A demo API server for manual tests. `cargo run -p observer-demo --example demo-server KUBECONFIG` writes that file and serves until
//! standard input ends. Each line on standard input is an act: `restart`, `compact`, `expire`.

use std::fs::OpenOptions;
use std::io::{Write as _, stdin};
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::Duration;

use anyhow::Context as _;
use observer_demo::{DemoConfig, DemoServer};

fn main() -> anyhow::Result<()> {
    let path = std::env::args().nth(1).context("name the kubeconfig to write")?;
    let server = DemoServer::start(DemoConfig::default())?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).with_context(|| path.clone())?;
    file.write_all(server.kubeconfig().as_bytes())?;
    for line in stdin().lines() {
        match line?.trim() {
            "restart" => server.handle().restart(Duration::from_secs(2)).blocking_recv()?,
            "compact" => server.handle().compact(),
            "expire" => server.handle().expire_watches(),
            other => anyhow::bail!("no such act: {other}"),
        }
    }
    Ok(())
}
