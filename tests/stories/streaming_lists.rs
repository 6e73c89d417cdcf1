//! S11: clients that use streaming lists, on a server that supports them and on one that does not.

use anyhow::{Context, Result, ensure};
use observer_tests::{CacheClient, ClientGo, HttpVersion, ListForm, Minor};

use super::stage::{Stage, quiet_cluster};

const OBJECTS: usize = 30;
const NEWEST: CacheClient = CacheClient::Informer(ClientGo::V0_37, HttpVersion::Two);

#[test]
fn granted_streaming_lists_are_reported_as_initial_lists() -> Result<()> {
    let mut stage = Stage::set(quiet_cluster(Minor::DEFAULT, &[], OBJECTS)?)?;
    for (client, form) in [(NEWEST, ListForm::Usual), (CacheClient::KubeRs, ListForm::Streaming)] {
        let mut player = stage.send(client, form)?;
        player.process.wait_for_lines(OBJECTS, |line| line.contains("\"added\""))?;
        let saw = stage.server_saw(&player)?;
        let [watch] = saw.requests() else { anyhow::bail!("{client} asks once: {saw:#?}") };
        ensure!(watch.is_watch && watch.parameter("sendInitialEvents") == Some("true"), "{watch:?}");
        let events = stage.events_when(|events| events.count(&player.program, "initial-list") > 0)?;
        let list = events.one(&player.program, "initial-list")?;
        ensure!(list["items"] == OBJECTS && list["fallback_after"].is_null(), "{list:#}");
        let reading = stage.reading_when(|reading| reading.reflector(&player).is_ok_and(|row| row["state"] == "watching"))?;
        let row = reading.reflector(&player)?;
        ensure!(row["age"] == "watch-list" && row["list_requests"] == 0, "{row:#}");
        let timeline = row["timeline"].as_array().context("a timeline")?;
        let end = timeline.iter().find(|moment| moment["moment"] == "initial-events-ended");
        ensure!(end.is_some_and(|end| end["items"] == OBJECTS), "{row:#}");
    }
    stage.close()
}

#[test]
fn refused_streaming_list_is_reported_with_its_fallback() -> Result<()> {
    let mut stage = Stage::set(quiet_cluster(Minor(31), &[], OBJECTS)?)?;
    let mut player = stage.send(NEWEST, ListForm::Usual)?;
    player.process.wait_for_lines(OBJECTS, |line| line.contains("\"added\""))?;
    let saw = stage.server_saw(&player)?;
    let [refused, list, ..] = saw.requests() else { anyhow::bail!("two requests at least: {saw:#?}") };
    ensure!(refused.status == Some(422) && refused.parameter("sendInitialEvents") == Some("true"), "{saw:#?}");
    ensure!(!list.is_watch, "{saw:#?}");
    let events = stage.events_when(|events| events.count(&player.program, "initial-list") > 0)?;
    let list = events.one(&player.program, "initial-list")?;
    ensure!(list["items"] == OBJECTS && list["fallback_after"] == 422 && list["served_from"] == "Cache", "{list:#}");
    let reading = stage.reading_when(|reading| reading.finding("streaming-list-refused", &player.program).is_ok())?;
    let finding = reading.finding("streaming-list-refused", &player.program)?;
    ensure!(finding["advice"].as_str().is_some_and(|advice| advice.contains("WatchListClient")), "{finding:#}");
    ensure!(reading.text.contains("[streaming-list-refused:"), "{}", reading.text);
    stage.close()
}
