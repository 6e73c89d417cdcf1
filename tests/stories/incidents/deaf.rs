//! Open watches that deliver nothing.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use observer_tests::{Break, CacheClient, ClientGo, HttpVersion, ListForm, Minor, TcpHop};

use super::first_screen::{first_lines_have, troubles};
use crate::stage::{Stage, quiet_cluster};

#[test]
fn client_on_a_dead_connection_is_deaf_unless_it_pings() -> Result<()> {
    /// A deaf watch is silent for three minutes.
    const DEAF_AFTER: Duration = Duration::from_mins(3);
    /// Naming takes at most this much longer.
    const SOON: Duration = Duration::from_secs(40);
    let cluster = quiet_cluster(Minor::DEFAULT, &[], 10)?;
    let hop = TcpHop::start(cluster.socket_address())?;
    let authority = cluster.ca_pem().to_owned();
    let mut stage = Stage::behind(cluster, hop.address(), &authority)?;
    let http1 = stage.enter(CacheClient::Informer(ClientGo::V0_37, HttpVersion::One), ListForm::Usual)?;
    let pings = stage.enter(CacheClient::Informer(ClientGo::V0_37, HttpVersion::Two), ListForm::Usual)?;
    hop.silence_open_connections();
    let silent = Instant::now();
    let mut other = stage.enter(CacheClient::Informer(ClientGo::V0_26, HttpVersion::Two), ListForm::Usual)?;
    let version = stage.write()?;
    other.process.has(&version)?;

    // Nothing can be awaited before: the point is that nothing happens.
    sleep((DEAF_AFTER + Duration::from_secs(5)).saturating_sub(silent.elapsed()));
    let events = stage.events_when(|events| troubles(events, "trouble-began", "deaf-watch") > 0)?;
    ensure!(silent.elapsed() < DEAF_AFTER + SOON, "named after {:?}", silent.elapsed());
    let reading = stage.reading_when(|reading| reading.finding("deaf-watch", &http1.program).is_ok())?;
    first_lines_have(&reading, "enable detection of dead connections")?;
    for well in [&pings, &other] {
        ensure!(reading.finding("deaf-watch", &well.program).is_err(), "{}\n{}", well.program, reading.text);
    }
    let again = events.count(&pings.program, "resume") + events.count(&pings.program, "relist");
    ensure!(again > 0, "its pings found the dead connection: {}", events.summary());
    // The client recovers when its connection ends.
    hop.break_all(Break::Reset);
    stage.events_when(|events| troubles(events, "trouble-ended", "deaf-watch") > 0)?;
    stage.close()
}
