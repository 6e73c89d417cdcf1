//! Tests that the probe and the proxy report the same events for the same clients.

use std::collections::BTreeSet;

use observer_tests::{Act, CacheProcess, Of, Scripted, ScriptedReply};

use super::event_streams::EventStreams;
use super::stream_clients::{Client, leave};
use super::stream_stage::StreamStage;

#[test]
fn probe_emits_the_events_of_the_proxy() {
    let (stage, clients) = (StreamStage::set(), Client::all());
    let probe = stage.probe(&clients, &[]);
    let mut observed = BTreeSet::new();
    for (number, client) in clients.iter().enumerate() {
        let mut alone = stage.enter(number, *client);
        // It may have all objects from a list. This write makes sure that nothing is in flight when it exits.
        stage.write_to(&mut [&mut alone]);
        observed.insert(alone.id());
        leave(alone);
    }
    let mut together: Vec<(Client, CacheProcess)> =
        clients.iter().enumerate().map(|(number, client)| (*client, stage.enter(number, *client))).collect();
    observed.extend(together.iter().map(|(_, process)| process.id()));
    stage.update(10_000);
    write_to(&stage, &mut together);

    // Clients that do not start a new watch exit.
    stage.hop.happen(Act::ExpireWatches);
    let (mut informers, watchers): (Vec<_>, Vec<_>) = together.into_iter().partition(|(client, _)| client.reopens_watches());
    for (_, mut process) in watchers {
        process.read_to_end();
    }
    write_to(&stage, &mut informers);
    stage.hop.script(Some(Scripted { of: Of::Watches, answer: ScriptedReply::InternalError, times: 1 }));
    stage.hop.happen(Act::EndWatches);
    write_to(&stage, &mut informers);
    stage.hop.script(None);
    stage.hop.happen(Act::BreakWatches);
    write_to(&stage, &mut informers);
    // The write before may have arrived in a list. This one arrives on a watch, so nothing is in flight when they exit.
    write_to(&stage, &mut informers);
    for (_, process) in informers {
        leave(process);
    }

    let recorded = stage.end(probe);
    let [proxied, probed] = [&recorded.proxied, &recorded.probed].map(|file| EventStreams::read(file, &observed));
    let causes = proxied.causes();
    assert!(causes.len() >= 3, "provoked causes: {causes:?}");
    assert!(proxied.watch_events() > 10_000 * clients.len() as u64, "{} events", proxied.watch_events());
    let differences = proxied.differences(&probed);
    assert!(differences.is_empty(), "+ is of the proxy, - of the probe:\n{}", differences.join("\n"));
}

fn write_to(stage: &StreamStage, processes: &mut [(Client, CacheProcess)]) {
    stage.write_to(&mut processes.iter_mut().map(|(_, process)| process).collect::<Vec<_>>());
}
