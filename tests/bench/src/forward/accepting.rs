//! A server that is a process of its own: it prints its port, and lasts as long as its standard input.

use std::io::{Read as _, Write as _};
use std::net::Ipv4Addr;

use anyhow::{Context as _, Result};
use tokio::net::{TcpListener, TcpStream};

/// Prints a port of its own and serves each client, until standard input ends.
pub(crate) fn accept_until_end_of_input<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> Result<()>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?.port())?;
    runtime.spawn(async move {
        loop {
            if let Ok((client, _)) = listener.accept().await {
                // A client may leave early without an error of the server.
                let serving = serve(client);
                tokio::spawn(async move { drop(serving.await) });
            }
        }
    });
    wait_for_end_of_input()
}

/// Waits until standard input ends. The parent process has the other end, so this process never outlives it.
pub(super) fn wait_for_end_of_input() -> Result<()> {
    std::io::stdin().read_to_end(&mut Vec::new()).map(drop).context("standard input")
}
