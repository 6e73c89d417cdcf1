//! S9 and S16: an API server with many objects restarts under many clients of three releases. watchtap predicts the relists,
//! reports them as one storm, and every number equals the count of the server or of the clients.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use observer_tests::{CacheClient, ClientGo, HttpVersion, ListForm, Minor, Signal};
use serde_json::Value;

use super::restart::checked;
use super::stage::{Player, Stage, quiet_cluster};

const OBJECTS: usize = 5_000;
/// Number of clients per release.
const EACH: usize = 11;

#[test]
fn restart_storm_is_reported_once_and_matches_the_exposure() -> Result<()> {
    let mut stage = Stage::set(quiet_cluster(Minor::DEFAULT, &[], OBJECTS)?)?;
    let mut players = Vec::new();
    for release in [ClientGo::V0_15, ClientGo::V0_18] {
        send(&mut stage, release, &mut players)?;
    }
    stage.all_have_the_next_write(&mut players)?;
    stage.all_have_the_next_write(&mut players)?;
    // The clients so far do not see this write; those that start later do.
    stage.cluster.create_configmaps("elsewhere", 1)?;
    send(&mut stage, ClientGo::V0_37, &mut players)?;
    for player in players.iter_mut().skip(2 * EACH) {
        player.process.wait_for_lines(OBJECTS, |line| line.contains("\"added\""))?;
    }

    let before = stage.reading_when(|reading| reading.report["exposure"]["watching"] == 3 * EACH)?;
    let exposure = &before.report["exposure"];
    let perhaps = exposure["perhaps"].as_u64().context("perhaps")?;
    ensure!(exposure["reflectors"].as_u64().is_some_and(|certain| perhaps + certain == 3 * EACH as u64));
    let predicted = reflectors(exposure["exposed"].as_array().context("what is exposed")?.iter())?;
    ensure!(exposure["reflectors"] == predicted.len() && predicted.len() > EACH, "{exposure:#}");
    let words = format!("on an API server restart: {} of {} watching reflectors would relist", predicted.len(), 3 * EACH);
    ensure!(before.text.contains(&words), "{}", before.text);

    stage.cluster.stop_api_server(Signal::Kill)?;
    stage.cluster.wait_stopped()?;
    stage.cluster.start_api_server()?;
    stage.all_have_the_next_write(&mut players)?;
    stage.all_have_the_next_write(&mut players)?;

    let deeds = checked(&stage, &players)?;
    let events = stage.events_when(|events| events.all("storm-ended").next().is_some())?;
    let relisted = reflectors(events.all("relist"))?;
    // The API server renews its lease every ten seconds. Such a write, which no client watches, can make more reflectors relist.
    ensure!(
        relisted.is_superset(&predicted) && relisted.len() as u64 <= predicted.len() as u64 + perhaps,
        "{predicted:?} and perhaps {perhaps} more were predicted, {relisted:?} relisted"
    );
    ensure!(events.all("relist-began").all(|began| began["server_refused"] == true), "{}", events.summary());
    for relist in events.all("relist") {
        let evidence = relist["evidence"].as_array().context("evidence")?;
        ensure!(evidence.iter().any(|moment| moment["moment"] == "server-refused"), "{relist:#}");
    }
    ensure!(events.all("storm-began").count() == 1 && events.all("storm-ended").count() == 1, "{}", events.summary());
    let storm = events.all("storm-ended").next().context("a storm")?;
    let relists: u64 = deeds.iter().map(|deeds| deeds.relists).sum();
    let spurious: usize = players.iter().map(|player| player.process.count("updated with the same version")).sum();
    let sum = |name: &str| events.all("relist").filter_map(|relist| relist[name].as_u64()).sum::<u64>();
    ensure!(storm["trigger"] == "api-server-restart" && storm["kind"] == "clients", "{storm:#}");
    ensure!(
        storm["reflectors"] == relisted.len() && storm["clients"] == relisted.len() && storm["relists"] == relists,
        "{relists}: {storm:#}"
    );
    ensure!(
        storm["repeated"] == spurious && storm["bytes"] == sum("bytes") && storm["items"] == sum("items"),
        "{spurious}: {storm:#}"
    );
    let lines = stage.lines()?;
    let storms: Vec<&str> = lines.lines().filter(|line| line.contains(" storm ")).collect();
    ensure!(storms.len() == 2 && storms.iter().all(|line| line.contains("trigger=api-server-restart")), "{storms:?}");
    stage.close()
}

fn send(stage: &mut Stage, release: ClientGo, players: &mut Vec<Player>) -> Result<()> {
    for _ in 0..EACH {
        players.push(stage.send(CacheClient::Informer(release, HttpVersion::Two), ListForm::Usual)?);
    }
    Ok(())
}

fn reflectors<'v>(mut of: impl Iterator<Item = &'v Value>) -> Result<BTreeSet<u64>> {
    of.try_fold(BTreeSet::new(), |mut all, one| {
        all.insert(one["reflector"].as_u64().context("a number of a reflector")?);
        Ok(all)
    })
}
