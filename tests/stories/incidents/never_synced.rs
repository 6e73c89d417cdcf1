//! Streaming lists without their end.

use anyhow::{Result, ensure};
use observer_tests::{CacheClient, ClientGo, HttpHop, HttpVersion, ListForm, Minor, Of, Scripted, ScriptedReply};
use serde_json::Value;

use super::first_screen::{first_lines_have, troubles};
use crate::stage::{Stage, quiet_cluster};

#[test]
fn streaming_list_behind_a_proxy_that_drops_bookmarks_never_syncs() -> Result<()> {
    let cluster = quiet_cluster(Minor::DEFAULT, &[], 10)?;
    let hop = HttpHop::start(cluster.socket_address(), cluster.ca_pem())?;
    let mut stage = Stage::behind(cluster, hop.address(), hop.ca_pem())?;
    hop.script(Some(Scripted { of: Of::Watches, answer: ScriptedReply::WithoutListEnd, times: usize::MAX }));
    let player = stage.send(CacheClient::Informer(ClientGo::V0_37, HttpVersion::Two), ListForm::Streaming)?;
    stage.events_when(|events| troubles(events, "trouble-began", "never-synced") > 0)?;
    let reading = stage.reading_when(|reading| reading.finding("never-synced", &player.program).is_ok())?;
    let finding = reading.finding("never-synced", &player.program)?;
    ensure!(finding["until"] == Value::Null, "it lasts: {finding:#}");
    first_lines_have(&reading, "did not get the bookmark that ends them")?;
    stage.close()
}
