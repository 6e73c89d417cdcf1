//! S5 and S6: etcd is restored from an older backup, and clients use a revision that etcd will not reach for long. client-go 1.18.0
//! repeats it forever; 1.18.6 and later list without one.

use anyhow::{Context, Result, ensure};
use observer_tests::{Break, CacheClient, ClientGo, HttpVersion, ListForm, Minor, Signal, TcpHop};
use serde_json::Value;

use super::stage::{Player, Stage, quiet_cluster};

#[test]
fn etcd_restore_makes_one_client_stuck_and_others_relist() -> Result<()> {
    let mut cluster = quiet_cluster(Minor::DEFAULT, &[], 10)?;
    cluster.back_up_etcd()?;
    let hop = TcpHop::start(cluster.socket_address())?;
    let authority = cluster.ca_pem().to_owned();
    let mut stage = Stage::behind(cluster, hop.address(), &authority)?;
    let releases = [ClientGo::V0_18_0, ClientGo::V0_18, ClientGo::V0_37];
    let entered = releases.map(|release| stage.enter(CacheClient::Informer(release, HttpVersion::Two), ListForm::Usual));
    let mut players = entered.into_iter().collect::<Result<Vec<Player>>>()?;
    // Ahead of any revision that the restored etcd reaches during the test.
    stage.cluster.create_configmaps(super::stage::NAMESPACE, 400)?;
    stage.all_have_the_next_write(&mut players)?;

    hop.refuse(true);
    hop.break_all(Break::Reset);
    stage.cluster.stop_api_server(Signal::Kill)?;
    stage.cluster.wait_stopped()?;
    stage.cluster.restore_etcd()?;
    stage.cluster.start_api_server()?;
    hop.refuse(false);
    make_all_list(&stage, &hop, &players)?;

    let [stuck, fixed, newest] = &players[..] else { anyhow::bail!("three clients") };
    let events = stage.events_when(|events| {
        events.count(&stuck.program, "stuck") > 0
            && [fixed, newest].iter().all(|player| events.count(&player.program, "relist") > 0)
    })?;
    check_stuck_event(&stage, events.one(&stuck.program, "stuck")?, stuck)?;
    for player in [fixed, newest] {
        let relist = events.one(&player.program, "relist")?;
        ensure!(relist["cause"]["name"] == "too-large-resource-version", "{relist:#}");
        let saw = stage.server_saw(player)?;
        let is_without = |request: &&super::server_saw::Request| {
            request.is_list() && request.parameter("resourceVersion").unwrap_or_default().is_empty()
        };
        ensure!(saw.requests().iter().rfind(is_without).is_some(), "{saw:#?}");
    }
    ensure!(events.count(&stuck.program, "relist") == 0, "{}", events.summary());
    stage.close()
}

/// A watch from a future revision is accepted and stays silent; only a list at that revision is refused. So the hop cuts each watch
/// within its first second, which makes its client list.
fn make_all_list(stage: &Stage, hop: &TcpHop, players: &[Player]) -> Result<()> {
    let lists = |events: &super::events::Events, player: &Player| events.count(&player.program, "relist-began");
    let mut opened = stage.events()?.all("watch-opened").count();
    loop {
        let events = stage.events_when(|events| {
            events.all("watch-opened").count() > opened || players.iter().all(|player| lists(events, player) > 0)
        })?;
        if players.iter().all(|player| lists(&events, player) > 0) {
            return Ok(());
        }
        opened = events.all("watch-opened").count();
        hop.break_all(Break::Reset);
    }
}

/// Checks the requested revision, the current one, the number of refusals and the advice.
fn check_stuck_event(stage: &Stage, events: &Value, player: &Player) -> Result<()> {
    let saw = stage.server_saw(player)?;
    let wanted = saw.requests().last().and_then(|list| list.parameter("resourceVersion")).context("a list at a revision")?;
    ensure!(events["resource_version"].as_u64() == wanted.parse().ok(), "{wanted} is asked for: {events:#}");
    let refused = saw.requests().iter().filter(|request| request.status == Some(504)).count();
    let refusals = events["refusals"].as_u64().context("a number of refusals")?;
    ensure!(refusals >= 12 && usize::try_from(refusals)? <= refused, "{refused} were refused: {events:#}");
    let current = events["current"].as_u64().context("the revision that there is")?;
    let (revision, wanted) = (stage.cluster.revision()?, wanted.parse::<u64>()?);
    ensure!(current <= revision && revision < wanted, "{current} is reported, etcd is at {revision}, {wanted} is asked for");

    let reading = stage.reading_when(|reading| reading.report["totals"]["stuck"] == 1)?;
    let row = reading.reflector(player)?;
    ensure!(row["state"] == "stuck", "{row:#}");
    let finding = reading.finding("stuck-reflector", &player.program)?;
    ensure!(finding["advice"].as_str().is_some_and(|advice| advice.contains("1.18.6")), "{finding:#}");
    let lines = stage.lines()?;
    let said = lines.lines().find(|line| line.contains(&player.program) && line.contains("was refused"));
    let said = said.with_context(|| format!("no line says that it is stuck:\n{lines}"))?;
    ensure!(said.contains(&format!("RV={wanted}")) && said.contains(&current.to_string()), "{said}");
    Ok(())
}
