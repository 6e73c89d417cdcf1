//! S2: an informer starts with `limit=500&resourceVersion=0`; the watch cache answers and ignores the limit.

use anyhow::{Context, Result, ensure};
use observer_tests::{CacheClient, ClientGo, HttpVersion, ListForm, Minor};

use super::stage::{Stage, quiet_cluster};

/// More than one page of client-go.
const OBJECTS: usize = 620;

#[test]
fn initial_list_of_an_informer_is_complete_and_from_cache() -> Result<()> {
    let mut stage = Stage::set(quiet_cluster(Minor::DEFAULT, &[], OBJECTS)?)?;
    for release in [ClientGo::V0_18, ClientGo::V0_37] {
        let before = stage.cluster.counters("configmaps")?;
        let mut player = stage.send(CacheClient::Informer(release, HttpVersion::Two), ListForm::Plain)?;
        player.process.wait_for_lines(OBJECTS, |line| line.contains("\"added\""))?;
        let counted = stage.cluster.counters("configmaps")? - before;
        ensure!((counted.cache_lists, counted.storage_lists, counted.etcd_lists) == (1, 0, 0), "{counted:?}");

        let saw = stage.server_saw(&player)?;
        let list = saw.requests().first().context("a list")?;
        ensure!((list.parameter("limit"), list.parameter("resourceVersion")) == (Some("500"), Some("0")), "{list:?}");

        let events = stage.events_when(|events| events.count(&player.program, "initial-list") > 0)?;
        let list = events.one(&player.program, "initial-list")?;
        ensure!(list["items"] == OBJECTS, "{OBJECTS} were added: {list:#}");
        ensure!(list["served_from"] == "Cache" && list["certainty"] == "Confirmed" && list["requests"] == 1, "{list:#}");
        ensure!(list["cause"].is_null() && events.count(&player.program, "relist-began") == 0, "{list:#}");
        let lines = stage.lines()?;
        let said = lines.lines().find(|line| line.contains(&player.program) && line.contains(" list "));
        let said = said.with_context(|| format!("no line about the list:\n{lines}"))?;
        ensure!(said.contains(&format!("{OBJECTS} objects")) && said.contains("cache"), "{said}");
    }
    stage.close()
}
