//! A short comparison of the probe's streams with those of the proxy, for each kernel, and with the features of others.

use std::collections::BTreeSet;
use std::io::Write as _;

use observer_tests::{Act, CacheProcess};

use crate::event_streams::EventStreams;
use crate::stream_clients::{Client, leave};
use crate::stream_stage::StreamStage;

/// How often one object is updated while all clients watch it.
const UPDATES: usize = 20;

#[test]
fn streams_are_those_of_the_proxy() {
    check(&[]);
}

#[test]
fn streams_by_perf_events_with_links_are_those_of_the_proxy() {
    check(&["--attach-by", "event-links", "--pair-by", "returns"]);
}

#[test]
fn streams_by_perf_events_with_copies_of_the_programs_are_those_of_the_proxy() {
    check(&["--attach-by", "event-copies", "--pair-by", "returns"]);
}

/// Each client lists and watches. The watches then expire, so those of client-go relist, and the other clients exit. Prints a line for
/// each client ([`Compared`]).
#[track_caller]
fn check(flags: &[&str]) {
    let (stage, clients) = (StreamStage::set(), Client::of_every_kernel());
    let probe = stage.probe(&clients, flags);
    let entered = clients.iter().enumerate().map(|(number, client)| (*client, stage.enter(number, *client)));
    let mut entered: Vec<(Client, CacheProcess)> = entered.collect();
    let observed: Vec<(Client, u32)> = entered.iter().map(|(client, process)| (*client, process.id())).collect();
    let write_to = |processes: &mut [(Client, CacheProcess)]| {
        stage.write_to(&mut processes.iter_mut().map(|(_, process)| process).collect::<Vec<_>>());
    };
    stage.update(UPDATES);
    write_to(&mut entered);
    stage.hop.happen(Act::ExpireWatches);
    let (mut informers, others): (Vec<_>, Vec<_>) = entered.into_iter().partition(|(client, _)| client.reopens_watches());
    for (_, mut process) in others {
        process.read_to_end();
    }
    // The first write may arrive in a list. The second one arrives on a watch, so nothing is in flight when they exit.
    write_to(&mut informers);
    write_to(&mut informers);
    for (_, process) in informers {
        leave(process);
    }

    let recorded = stage.end(probe);
    let mut differences = Vec::new();
    for (client, process) in observed {
        let [proxied, probed] =
            [&recorded.proxied, &recorded.probed].map(|file| EventStreams::read(file, &BTreeSet::from([process])));
        // Informers relist.
        let requests = if client.reopens_watches() { 2 } else { 1 };
        let is_complete = proxied.requests() >= requests && proxied.watch_events() > UPDATES as u64;
        let of_client = proxied.differences(&probed);
        Compared { client: client.name(), is_same: is_complete && of_client.is_empty() }.print();
        if !is_complete {
            differences.push(format!("{client:?}: {} requests, {} events", proxied.requests(), proxied.watch_events()));
        }
        differences.extend(of_client);
    }
    assert!(differences.is_empty(), "+ is of the proxy, - of the probe:\n{}", differences.join("\n"));
}

/// The result for a client, as a line of text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Compared {
    pub(super) client: String,
    /// Whether the stream of the probe is that of the proxy.
    pub(super) is_same: bool,
}

/// The beginning of a line.
const LINE: &str = "stream of ";
const SAME: &str = "same";
const DIFFERENT: &str = "different";

impl Compared {
    fn print(&self) {
        let result = if self.is_same { SAME } else { DIFFERENT };
        let mut out = std::io::stdout().lock();
        // The test harness may have begun a line.
        writeln!(out, "\n{LINE}{}: {result}", self.client).unwrap();
    }

    /// The results in the output of a test, for each client. A client without a line is different.
    pub(super) fn read(output: &str) -> Vec<Self> {
        let lines: Vec<(&str, &str)> = output.lines().filter_map(|line| line.strip_prefix(LINE)?.split_once(": ")).collect();
        let of_client = |client: Client| {
            let client = client.name();
            let is_same = lines.contains(&(client.as_str(), SAME)) && !lines.contains(&(client.as_str(), DIFFERENT));
            Self { client, is_same }
        };
        Client::of_every_kernel().into_iter().map(of_client).collect()
    }
}
