//! Open watches that deliver nothing.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use observer_tests::{Break, CacheClient, ClientGo, HttpVersion, ListForm, Minor, TcpHop};

use super::first_screen::first_lines_have;
use crate::events::Events;
use crate::stage::{Player, Stage, quiet_cluster};

#[test]
fn clients_on_dead_connections_are_deaf_unless_they_ping() -> Result<()> {
    /// A deaf watch is silent for three minutes.
    const DEAF_AFTER: Duration = Duration::from_mins(3);
    /// Naming takes at most this much longer.
    const SOON: Duration = Duration::from_secs(10);
    // The first build on a machine takes minutes, and would delay the proof that the others are deaf.
    ClientGo::V0_26.reflector()?;
    let cluster = quiet_cluster(Minor::DEFAULT, &[], 10)?;
    let hop = TcpHop::start(cluster.socket_address())?;
    let authority = cluster.ca_pem().to_owned();
    let mut stage = Stage::behind(cluster, hop.address(), &authority)?;
    let mut enter = |http| stage.enter(CacheClient::Informer(ClientGo::V0_37, http), ListForm::Usual);
    let mut deaf = [enter(HttpVersion::One)?, enter(HttpVersion::TwoWithoutPings)?];
    let pings = enter(HttpVersion::Two)?;
    hop.silence_open_connections();
    let silent = Instant::now();
    let mut other = stage.enter(CacheClient::Informer(ClientGo::V0_26, HttpVersion::Two), ListForm::Usual)?;
    let version = stage.write()?;
    other.process.has(&version)?;

    // Nothing can be awaited before: the point is that nothing happens.
    sleep(DEAF_AFTER.saturating_sub(silent.elapsed()));
    let events = stage.events_when(|events| deaf.iter().all(|player| troubles_of(events, player, "trouble-began") == 1))?;
    let named = silent.elapsed();
    ensure!(named < DEAF_AFTER + SOON, "named after {named:?}");
    let reading = stage.reading_when(|reading| deaf.iter().all(|player| reading.finding("deaf-watch", &player.program).is_ok()))?;
    first_lines_have(&reading, "enable detection of dead connections")?;
    for well in [&pings, &other] {
        ensure!(reading.finding("deaf-watch", &well.program).is_err(), "{}\n{}", well.program, reading.text);
    }
    let again = events.count(&pings.program, "resume") + events.count(&pings.program, "relist");
    ensure!(again > 0, "its pings found the dead connection: {}", events.summary());

    // A client recovers when its connection ends.
    hop.break_all(Break::Reset);
    stage.events_when(|events| deaf.iter().all(|player| troubles_of(events, player, "trouble-ended") == 1))?;
    stage.all_have_the_next_write(&mut deaf)?;
    println!("named {} ms after the threshold", named.saturating_sub(DEAF_AFTER).as_millis());
    stage.close()
}

/// How many events of this kind are about the player's deaf watch.
fn troubles_of(events: &Events, player: &Player, event: &str) -> usize {
    events.of(&player.program, event).filter(|one| one["trouble"] == "deaf-watch").count()
}
