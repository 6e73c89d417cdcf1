//! S8: an API server restarts. Clients that handle refused connections correctly resume; client-go up to 1.15 relists.

use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use observer_tests::{CacheClient, ClientGo, HttpVersion, ListForm, Minor, Signal};

use serde_json::Value;

use super::server_saw::{Deeds, ServerSaw};
use super::stage::{Player, Reading, Stage, quiet_cluster};

const OBJECTS: usize = 40;

#[test]
fn resumes_and_relists_after_a_restart_match_server_and_clients() -> Result<()> {
    let mut stage = Stage::set(quiet_cluster(Minor::DEFAULT, &[], OBJECTS)?)?;
    let [oldest, newest, kube_rs] = [
        CacheClient::Informer(ClientGo::V0_15, HttpVersion::Two),
        CacheClient::Informer(ClientGo::V0_37, HttpVersion::Two),
        CacheClient::KubeRs,
    ];
    let first_resuming = CacheClient::Informer(ClientGo::V0_18, HttpVersion::One);
    let entered = [oldest, newest, kube_rs, first_resuming].map(|client| stage.enter(client, ListForm::Usual));
    let mut players = entered.into_iter().collect::<Result<Vec<Player>>>()?;
    stage.all_have_the_next_write(&mut players)?;

    // Without unseen writes, the new watch cache can resume the clients' watches.
    restart(&mut stage, &mut players)?;
    let deeds = checked(&stage, &players)?;
    let [of_oldest, of_newest, of_kube_rs, _chance] = deeds[..] else { anyhow::bail!("four clients") };
    ensure!(
        of_oldest.relists == 1 && of_newest.relists == 0 && of_kube_rs.relists == 0,
        "{of_oldest:?} {of_newest:?} {of_kube_rs:?}"
    );
    ensure!(of_newest.resumes >= 1 && of_kube_rs.resumes >= 1, "{of_newest:?} {of_kube_rs:?}");
    let reported = stage.events()?;
    let relist = reported.one(&players[0].program, "relist")?;
    ensure!(relist["cause"]["name"] == "refused-misread", "{relist:#}");
    let evidence = relist["evidence"].as_array().context("evidence")?;
    ensure!(evidence.iter().any(|moment| moment["moment"] == "server-refused"), "{relist:#}");
    let began = reported.one(&players[0].program, "relist-began")?;
    ensure!(began["server_refused"] == true, "{began:#}");
    let reading = stage.reading_when(|reading| reading.finding("refused-misread", &players[0].program).is_ok())?;
    let finding = reading.finding("refused-misread", &players[0].program)?;
    ensure!(finding["advice"].as_str().is_some_and(|advice| advice.contains("1.16")), "{finding:#}");

    // With an unseen write, the new watch cache starts after the clients' revision.
    stage.cluster.create_configmaps("elsewhere", 1)?;
    restart(&mut stage, &mut players)?;
    checked(&stage, &players)?;
    let reported = stage.events()?;
    // client-go 0.18 is skipped: when a server stops, its connection is either refused or reset, by chance, and after a reset it
    // relists.
    for player in &players[1..3] {
        let relist =
            reported.of(&player.program, "relist").last().with_context(|| format!("{} has listed again", player.program))?;
        ensure!(relist["cause"]["name"] == "expired" && relist["cause"]["because"] == "cache-reset", "{relist:#}");
    }
    stage.close()
}

fn restart(stage: &mut Stage, players: &mut [Player]) -> Result<()> {
    /// Typical downtime of an API server that moves to another node.
    const AWAY: Duration = Duration::from_secs(3);
    stage.cluster.stop_api_server(Signal::Kill)?;
    stage.cluster.wait_stopped()?;
    sleep(AWAY);
    stage.cluster.start_api_server()?;
    // The first write may arrive in a list; the second arrives on the watch that follows it.
    stage.all_have_the_next_write(players)?;
    stage.all_have_the_next_write(players)
}

/// Checks that events and report have the resumes, relists and spurious updates that the server and each client counted.
pub(super) fn checked(stage: &Stage, players: &[Player]) -> Result<Vec<Deeds>> {
    let audit = stage.cluster.audit_log()?;
    let saw: Vec<ServerSaw> = players.iter().map(|player| player.seen_in(&audit)).collect();
    let deeds: Vec<Deeds> = saw.iter().map(ServerSaw::deeds).collect();
    let truths: Vec<_> = players.iter().zip(&deeds).map(|(player, deeds)| truth(player, *deeds)).collect();
    let all = || players.iter().zip(&truths);
    let is_reported = |reading: &Reading| {
        all().all(|(player, truth)| {
            reading.reflector(player).is_ok_and(|row| numbers(row).iter().zip(truth).all(|(reported, truth)| reported >= truth))
        })
    };
    // The checks below report the difference.
    let reading = stage.reading_when(is_reported).or_else(|_late| stage.reading())?;
    let reported =
        stage.events_when(|reported| all().all(|(player, truth)| reported.count(&player.program, "resume") as u64 >= truth[0]))?;
    for ((player, truth), saw) in all().zip(&saw) {
        let row = reading.reflector(player)?;
        ensure!(numbers(row) == *truth, "{}: {:?} and not {truth:?}\n{saw:#?}\n{row:#}", player.program, numbers(row));
        let spurious = reported.of(&player.program, "relist").filter_map(|relist| relist["repeats"]["repeated"].as_u64()).sum();
        let reported =
            [reported.count(&player.program, "resume") as u64, reported.count(&player.program, "relist") as u64, spurious];
        ensure!(reported == *truth, "{}: reported {reported:?} and not {truth:?}", player.program);
    }
    Ok(deeds)
}

/// Resumes and relists from the server's audit log, spurious updates from the client's log.
fn truth(player: &Player, deeds: Deeds) -> [u64; 3] {
    [deeds.resumes, deeds.relists, player.process.count("updated with the same version") as u64]
}

/// The same three numbers from a row of the report.
fn numbers(row: &Value) -> [u64; 3] {
    [&row["resumes"], &row["relists"], &row["repeats"]["repeated"]].map(|number| number.as_u64().unwrap_or(u64::MAX))
}
