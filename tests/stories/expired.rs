//! S7: a watch is cut, and the server no longer has the events after the client's last revision. With bookmarks, that revision
//! would be newer.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use observer_tests::{Break, CacheClient, ClientGo, HttpVersion, ListForm, Minor, TcpHop};

use super::restart::checked;
use super::stage::{NAMESPACE, Player, Reading, Stage, quiet_cluster};

/// A watch cache grows, and so keeps all events, while its oldest event is younger than this (kubernetes/apiserver
/// `pkg/storage/cacher/watch_cache.go`, `eventFreshDuration`).
const KEPT: Duration = Duration::from_secs(76);
/// More than the initial capacity of a watch cache.
const EVENTS: u32 = 250;
/// A namespace of the same resource that no client watches.
const ELSEWHERE: &str = "elsewhere";
/// Number of writes in [`ELSEWHERE`] before the bookmark. So the bookmark's revision stays valid when the server has dropped all
/// earlier events and some of these.
const AHEAD: u32 = 20;
/// Number of writes between two probes; each probe lasts one second while the server still has the revision.
const STEP: u32 = 8;

#[test]
fn only_clients_without_bookmarks_relist_after_a_reset_watch() -> Result<()> {
    let cluster = quiet_cluster(Minor::DEFAULT, &[], 20)?;
    cluster.create_configmaps(ELSEWHERE, 1)?;
    let hop = TcpHop::start(cluster.socket_address())?;
    let authority = cluster.ca_pem().to_owned();
    let mut stage = Stage::behind(cluster, hop.address(), &authority)?;
    let without = CacheClient::Informer(ClientGo::V0_15, HttpVersion::Two);
    let with = [
        CacheClient::Informer(ClientGo::V0_18, HttpVersion::Two),
        CacheClient::Informer(ClientGo::V0_37, HttpVersion::Two),
        CacheClient::KubeRs,
    ];
    let entered = [without].into_iter().chain(with).map(|client| stage.enter(client, ListForm::Usual));
    let mut players = entered.collect::<Result<Vec<Player>>>()?;
    stage.all_have_the_next_write(&mut players)?;

    // Without bookmarks, the clients' revision is the last of their own namespace.
    let last = stage.write()?;
    players.iter_mut().try_for_each(|player| player.process.has(&last))?;
    let ahead = (0..AHEAD).map(|_| stage.write_in(ELSEWHERE)).last().context("something was written elsewhere")??;
    let written = Instant::now();
    let moved_on = |reading: &Reading, player: &Player| {
        reading.reflector(player).is_ok_and(|row| row["bookmarks"] != 0 && row["resource_version"].as_u64() >= ahead.parse().ok())
    };
    stage.reading_when(|reading| players[1..].iter().all(|player| moved_on(reading, player)))?;
    sleep(KEPT.saturating_sub(written.elapsed()));
    forget(&mut stage, &last)?;

    let before = stage.events()?;
    ensure!(before.all("relist-began").next().is_none(), "{}", before.summary());
    // kube-rs ends a watch after 290 s, client-go after 5 to 10 minutes. On a busy machine, that can happen before the cut.
    let deeds_before = checked(&stage, &players)?;
    hop.break_all(Break::Reset);
    stage.all_have_the_next_write(&mut players)?;
    stage.all_have_the_next_write(&mut players)?;

    let deeds = checked(&stage, &players)?;
    let events = stage.events()?;
    let resumed = deeds[1..].iter().zip(&deeds_before[1..]).all(|(after, before)| after.resumes == before.resumes + 1);
    let is_so = deeds[0].relists == 1 && deeds[1..].iter().all(|deeds| deeds.relists == 0) && resumed;
    ensure!(is_so, "{deeds:?} after {deeds_before:?}\n{}", events.summary());
    let relist = events.one(&players[0].program, "relist")?;
    ensure!(relist["cause"]["name"] == "expired" && relist["cause"]["because"] == "bookmarks-not-requested", "{relist:#}");
    let reading = stage.reading()?;
    let finding = reading.finding("no-bookmarks", &players[0].program)?;
    ensure!(finding["advice"].as_str().is_some_and(|advice| advice.contains("allowWatchBookmarks=true")), "{finding:#}");
    ensure!(reading.text.contains("410 Gone: bookmarks off"), "{}", reading.text);
    stage.close()
}

/// Writes elsewhere until the server has dropped the events after `revision` and returns 410.
fn forget(stage: &mut Stage, revision: &str) -> Result<()> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps?watch=true&timeoutSeconds=1&resourceVersion={revision}");
    for written in 1..=EVENTS {
        stage.write_in(ELSEWHERE)?;
        // The cache cannot be full before, so no watch needs to be tried.
        if written >= 60 && written % STEP == 0 && stage.cluster.client().get(&path)?.text().contains("\"code\":410") {
            return Ok(());
        }
    }
    anyhow::bail!("after {EVENTS} events the server still has what follows {revision}")
}
