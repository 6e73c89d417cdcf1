//! The client's load for one sample.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use tokio::task::JoinSet;

use super::client::{Connection, Target, next};
use super::latency::Latencies;
use super::sample::Served;
use super::scenario::{Amounts, Load};
use super::upstream::paths;
use super::upstream::{EVENT_BYTES, STAMP_AT, STAMP_DIGITS};

/// Connections that are ready for their load: handshakes and first requests are not part of a sample, unless they are the load.
pub(super) struct Ready {
    target: Target,
    load: Load,
    connections: Vec<Connection>,
}

impl Ready {
    /// Connects, and sends one small request on each connection.
    pub(super) async fn prepare(target: Target, load: Load) -> Result<Self> {
        let (connections, streams) = match load {
            Load::Lists { connections } => (connections, 1),
            Load::Gets { clients } => (1, clients),
            Load::Events => (1, 1),
            Load::Connections { .. } | Load::Idle => (0, 0),
        };
        let mut ready = Self { target, load, connections: Vec::new() };
        for _ in 0..connections {
            let connection = ready.warm().await?;
            ready.add_streams(connection, streams).await?;
        }
        Ok(ready)
    }

    /// Adds streams of one connection if the protocol has them, otherwise further connections.
    async fn add_streams(&mut self, first: Connection, number: u32) -> Result<()> {
        for _ in 1..number {
            let another = match first.stream() {
                Some(stream) => stream,
                None => self.warm().await?,
            };
            self.connections.push(another);
        }
        self.connections.push(first);
        Ok(())
    }

    async fn warm(&self) -> Result<Connection> {
        let mut connection = self.target.connect().await?;
        connection.drain(paths::SMALL).await?;
        Ok(connection)
    }

    /// Runs the load. It also returns watches that stay open; dropping them ends them.
    pub(super) async fn run(self, amounts: Amounts) -> Result<(Served, Vec<Connection>)> {
        let begun = Instant::now();
        let Self { target, load, connections } = self;
        let limit = Duration::from_millis(amounts.milliseconds);
        let mut open = Vec::new();
        let mut served = match load {
            Load::Lists { connections: number } => {
                let each = amounts.lists_of_each(number);
                together(connections.into_iter().map(|connection| lists(connection, each, amounts.list))).await?
            }
            Load::Gets { .. } => together(connections.into_iter().map(|connection| gets(connection, limit))).await?,
            Load::Events => together(connections.into_iter().map(|connection| events(connection, limit))).await?,
            Load::Connections { clients } => together((0..clients).map(|_| new_connections(target.clone(), limit))).await?,
            Load::Idle => {
                for _ in 0..amounts.watches {
                    open.push(idle_watch(&target).await?);
                }
                Served { operations: u64::from(amounts.watches), ..Served::default() }
            }
        };
        served.elapsed = begun.elapsed();
        Ok((served, open))
    }
}

/// Runs all clients concurrently.
async fn together<F>(clients: impl Iterator<Item = F>) -> Result<Served>
where
    F: Future<Output = Result<Served>> + Send + 'static,
{
    let mut running: JoinSet<Result<Served>> = clients.collect();
    let mut sum = Served::default();
    while let Some(served) = running.join_next().await {
        let served = served.context("a client failed")??;
        sum.bytes += served.bytes;
        sum.operations += served.operations;
        sum.latencies.append(served.latencies);
    }
    Ok(sum)
}

async fn lists(mut connection: Connection, number: u32, least: usize) -> Result<Served> {
    let mut served = Served::default();
    for _ in 0..number {
        let bytes = connection.drain(paths::LIST).await?;
        ensure!(bytes >= least as u64 / 2, "the list was cut at {bytes} bytes");
        served.bytes += bytes;
        served.operations += 1;
    }
    Ok(served)
}

async fn gets(mut connection: Connection, limit: Duration) -> Result<Served> {
    let begun = Instant::now();
    let mut served = Served::default();
    while begun.elapsed() < limit || served.operations == 0 {
        let sent = Instant::now();
        served.bytes += connection.drain(paths::SMALL).await?;
        served.operations += 1;
        served.latencies.push(sent.elapsed());
    }
    Ok(served)
}

/// Each event contains its creation time; both processes read the same clock.
async fn events(mut connection: Connection, limit: Duration) -> Result<Served> {
    let begun = Instant::now();
    let mut served = Served::default();
    let mut body = connection.get(paths::EVENTS).await?;
    let mut pending = Vec::new();
    while begun.elapsed() < limit || served.operations == 0 {
        let bytes = next(&mut body).await?.context("the watch ended")?;
        served.bytes += bytes.len() as u64;
        pending.extend_from_slice(&bytes);
        let whole = pending.len() / EVENT_BYTES;
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        for event in pending.chunks_exact(EVENT_BYTES) {
            served.operations += 1;
            served.latencies.push(now.saturating_sub(stamp(event)?));
        }
        pending.drain(..whole * EVENT_BYTES);
    }
    Ok(served)
}

fn stamp(event: &[u8]) -> Result<Duration> {
    let digits = event.get(STAMP_AT..STAMP_AT + STAMP_DIGITS).context("an event is too short")?;
    Ok(Duration::from_nanos(std::str::from_utf8(digits)?.parse().context("an event has no stamp")?))
}

async fn new_connections(target: Target, limit: Duration) -> Result<Served> {
    let begun = Instant::now();
    let mut served = Served { latencies: Latencies::default(), ..Served::default() };
    while begun.elapsed() < limit || served.operations == 0 {
        let sent = Instant::now();
        let mut connection = target.connect().await?;
        served.bytes += connection.drain(paths::SMALL).await?;
        served.operations += 1;
        served.latencies.push(sent.elapsed());
    }
    Ok(served)
}

/// A watch with its first event received, and then silence.
async fn idle_watch(target: &Target) -> Result<Connection> {
    let mut connection = target.connect().await?;
    let mut body = connection.get(paths::IDLE).await?;
    next(&mut body).await?.context("the watch ended")?;
    // Dropping the body would end the connection; it ends with the process or the server.
    tokio::spawn(async move { while let Ok(Some(_)) = next_event(&mut body).await {} });
    Ok(connection)
}

/// Like [`next`], without a time limit.
async fn next_event(body: &mut hyper::body::Incoming) -> Result<Option<bytes::Bytes>> {
    use http_body_util::BodyExt;
    Ok(body.frame().await.transpose()?.and_then(|frame| frame.into_data().ok()))
}
