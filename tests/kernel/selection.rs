//! Tests of the processes that are recorded, and of the files that are skipped.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use observer_demo::{DemoConfig, DemoServer};
use observer_tests::patient;
use watchtap::intake::TapEvent;
use watchtap::tap::probe::ProbeOptions;

use super::clients::{of_clients, python, run};
use super::commanded_client::CommandedClient;
use super::probe_output::{ProbeOutput, RunningProbe};

/// Limit of every wait.
const LIMIT: Duration = Duration::from_mins(1);
/// Longer than the process name that the kernel keeps.
const NAME: &str = "client-with-a-long-name";

#[test]
fn only_the_process_with_the_pid_is_seen() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let (selected, other) = (CommandedClient::start(&server), CommandedClient::start(&server));
    let options = ProbeOptions { processes: vec![selected.id()], ..of_clients(server.address()) };
    assert_eq!(seen(&options, [selected, other]), [0]);
}

#[test]
fn only_the_process_with_the_name_is_seen() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let (selected, other) = (CommandedClient::named(NAME, &server), CommandedClient::start(&server));
    let options = ProbeOptions { names: vec![NAME.to_owned()], ..of_clients(server.address()) };
    assert_eq!(seen(&options, [other, selected]), [1]);
}

#[test]
fn process_selected_by_pid_or_name_is_observed() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let clients = [CommandedClient::start(&server), CommandedClient::named(NAME, &server), CommandedClient::start(&server)];
    let (processes, names) = (vec![clients[0].id()], vec![NAME.to_owned()]);
    let options = ProbeOptions { processes, names, ..of_clients(server.address()) };
    assert_eq!(seen(&options, clients), [0, 1]);
}

#[test]
fn process_that_changed_its_root_is_seen() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut python = Command::new("python3");
    python.env("NEW_ROOT", folder.path());
    let client = CommandedClient::start_by(python, &server, &[]);
    // The client is selected by its process ID, so that its library is not found as an installed one.
    let options = ProbeOptions { processes: vec![client.id()], ..of_clients(server.address()) };
    assert_eq!(seen(&options, [client]), [0]);
}

#[test]
fn excluded_file_is_left_alone_and_reported_once() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let mut clients = [CommandedClient::start(&server), CommandedClient::start(&server)];
    let library = clients[0].mapped("libssl.so");
    let base = library.rsplit('/').next().unwrap().to_owned();
    for excluded in [library.clone(), base] {
        let options = ProbeOptions { exclude: vec![excluded], ..of_clients(server.address()) };
        let output = ProbeOutput::during(&options, || {
            for client in &mut clients {
                client.ask(1);
            }
            run(&mut python("import ssl", &[]));
        });
        assert_eq!(output.opened(), []);
        let left: Vec<(&str, &str)> = output.not_probed().filter(|(file, _)| *file == library).collect();
        assert_eq!(left, [(library.as_str(), "it is excluded from probing")]);
    }
    clients.into_iter().for_each(CommandedClient::end);
}

#[test]
fn file_that_is_called_too_often_is_left_alone_and_its_client_continues() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    // A copy, because other programs call the installed library meanwhile.
    let folder = tempfile::tempdir().unwrap();
    copy_of_its_library(&server, folder.path());
    let own = || {
        let mut python = Command::new("python3");
        python.env("LD_LIBRARY_PATH", folder.path());
        CommandedClient::start_by(python, &server, &[])
    };
    let (mut busy, mut other) = (own(), own());
    let library = busy.mapped("libssl.so");
    assert!(Path::new(&library).starts_with(folder.path()), "{library}");
    let mut probe = RunningProbe::start(&ProbeOptions { calls_per_second: 100, ..of_clients(server.address()) });
    let begun = Instant::now();
    while !probe.output().not_probed().any(|(file, _)| file == library) {
        assert!(begun.elapsed() < patient(LIMIT), "{:?}", probe.output().notices);
        busy.ask(50);
    }
    // The probes are detached when the connection is closed.
    while !probe.output().events.iter().any(|(_, event)| matches!(event, TapEvent::Closed { .. })) {
        assert!(begun.elapsed() < patient(LIMIT), "{:?}", probe.output().notices);
        busy.ask(1);
    }
    for client in [&mut busy, &mut other] {
        client.ask(2);
    }
    // A new process makes the probe examine the file once more.
    run(python("import ssl", &[]).env("LD_LIBRARY_PATH", folder.path()));
    let output = probe.finish();
    busy.end();
    other.end();

    assert_eq!(output.opened().len(), 1, "the other client began after the file was detached");
    let [.., (_, TapEvent::NotObserved { .. }), (_, TapEvent::Closed { .. })] = output.events.as_slice() else {
        panic!("{:?}", output.events)
    };
    let left: Vec<&str> = output.not_probed().filter_map(|(file, why)| (file == library).then_some(why)).collect();
    let [why] = left.as_slice() else { panic!("{left:?}") };
    let rate: u64 = why.strip_prefix("its TLS functions are called ").unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(rate > 100 && why.contains("more than the 100 calls a second"), "{why}");
}

/// Copies the library of Python's TLS into a folder.
fn copy_of_its_library(server: &DemoServer, folder: &Path) {
    let client = CommandedClient::start(server);
    let library = PathBuf::from(client.mapped("libssl.so"));
    client.end();
    std::fs::copy(&library, folder.join(library.file_name().unwrap())).unwrap();
}

/// The indices of the clients that were seen; all clients send requests.
#[track_caller]
pub(crate) fn seen<const N: usize>(options: &ProbeOptions, mut clients: [CommandedClient; N]) -> Vec<usize> {
    let output = ProbeOutput::during(options, || clients.iter_mut().for_each(|client| client.ask(2)));
    let processes: Vec<u32> = output.opened().iter().map(|info| info.process.as_ref().unwrap().pid).collect();
    let mut places: Vec<usize> =
        processes.iter().map(|process| clients.iter().position(|client| client.id() == *process).unwrap()).collect();
    places.sort_unstable();
    clients.into_iter().for_each(CommandedClient::end);
    places
}
