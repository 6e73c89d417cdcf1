//! Short-lived clients, simultaneous lists, and clients that do not speak HTTP.

use std::io::{ErrorKind, Read, Write};
use std::thread;
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use fastrand::Rng;
use observer_tests::{Client, Listening, connect};

use super::repeated::Repeated;

/// Sends various requests, each on its own connection, until it is dropped. It ignores errors of an unavailable server.
pub(crate) fn visitor(client: Client, configmaps: &str) -> Repeated {
    const PACE: Duration = Duration::from_millis(200);
    let configmaps = configmaps.to_owned();
    Repeated::every(PACE, move |turn| {
        let question = match turn % 4 {
            // Another name each time: a client that repeatedly gets one object is a finding.
            0 => format!("{configmaps}/visited-{turn}"),
            1 => format!("{configmaps}?limit=10"),
            2 => "/version".to_owned(),
            _ => "/apis".to_owned(),
        };
        client.get(&question).ok();
    })
}

/// Lists everything many times at once; every list must succeed.
pub(crate) fn relist_together(client: &Client, configmaps: &str) -> Result<()> {
    const AT_ONCE: usize = 24;
    thread::scope(|scope| {
        let lists: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(|| client.get(configmaps))).collect();
        lists.into_iter().try_for_each(|list| list.join().map_err(|_panic| anyhow!("a list panicked"))?.map(drop))
    })
}

/// ALPN offers, including none.
const PROTOCOLS: [&[&[u8]]; 3] = [&[b"h2"], &[b"http/1.1"], &[]];

/// Sends invalid or incomplete HTTP with any ALPN offer, reads the server's reply, and leaves.
pub(crate) fn talk_nonsense(front: &Listening, random: &mut Rng) -> Result<()> {
    let protocols: &[&[u8]] = random.choice(PROTOCOLS).unwrap_or_default();
    let beginning: &[u8] = random
        .choice([
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00".as_slice(),
            b"GET /api/v1/configmaps HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHo",
            b"",
        ])
        .unwrap_or_default();
    let mut nonsense = beginning.to_vec();
    nonsense.extend((0..random.usize(..3000)).map(|_| random.u8(..)));
    let mut stream = connect(front.address, &front.authority, protocols)?;
    stream.sock.set_read_timeout(Some(Duration::from_millis(500)))?;
    stream.write_all(&nonsense)?;
    // The server answers, waits for more, or has closed without an answer.
    let heard = stream.read(&mut [0; 4096]);
    ensure!(heard.is_ok() || heard.is_err_and(|error| error.kind() != ErrorKind::InvalidData), "what was heard is no TLS");
    Ok(())
}
