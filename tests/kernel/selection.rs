//! Which processes are recorded, and which files are skipped.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use watchtap::demo::{DemoConfig, DemoServer};
use watchtap::intake::TapEvent;
use watchtap::tap::probe::ProbeOptions;

use super::clients::{of_clients, python, run};
use super::patient::Patient;
use super::told::{Hearing, Told};

/// Limit of every wait.
const PATIENCE: Duration = Duration::from_mins(1);
/// Longer than the process name that the kernel keeps.
const NAME: &str = "client-with-a-long-name";

#[test]
fn only_the_process_with_the_number_is_seen() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let (selected, other) = (Patient::start(&server), Patient::start(&server));
    let options = ProbeOptions { processes: vec![selected.id()], ..of_clients(server.address()) };
    assert_eq!(seen(&options, [selected, other]), [0]);
}

#[test]
fn only_the_process_with_the_name_is_seen() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let (selected, other) = (Patient::named(NAME, &server), Patient::start(&server));
    let options = ProbeOptions { names: vec![NAME.to_owned()], ..of_clients(server.address()) };
    assert_eq!(seen(&options, [other, selected]), [1]);
}

#[test]
fn process_that_is_selected_by_one_of_two_ways_is_seen() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let clients = [Patient::start(&server), Patient::named(NAME, &server), Patient::start(&server)];
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
    let client = Patient::start_by(python, &server, &[]);
    // Selected by process ID; otherwise its library is found as an installed one.
    let options = ProbeOptions { processes: vec![client.id()], ..of_clients(server.address()) };
    assert_eq!(seen(&options, [client]), [0]);
}

#[test]
fn file_that_is_never_to_be_probed_is_left_alone_and_told_once() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let mut clients = [Patient::start(&server), Patient::start(&server)];
    let library = clients[0].mapped("libssl.so");
    let base = library.rsplit('/').next().unwrap().to_owned();
    for never in [library.clone(), base] {
        let options = ProbeOptions { never: vec![never], ..of_clients(server.address()) };
        let told = Told::during(&options, || {
            for client in &mut clients {
                client.ask(1);
            }
            run(&mut python("import ssl", &[]));
        });
        assert_eq!(told.opened(), []);
        let left: Vec<(&str, &str)> = told.not_probed().filter(|(file, _)| *file == library).collect();
        assert_eq!(left, [(library.as_str(), "it is among the files that are never probed")]);
    }
    clients.into_iter().for_each(Patient::end);
}

#[test]
fn file_that_is_called_too_often_is_left_alone_and_its_client_lives_on() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    // A copy, because other programs call the installed library meanwhile.
    let folder = tempfile::tempdir().unwrap();
    copy_of_its_library(&server, folder.path());
    let own = || {
        let mut python = Command::new("python3");
        python.env("LD_LIBRARY_PATH", folder.path());
        Patient::start_by(python, &server, &[])
    };
    let (mut busy, mut other) = (own(), own());
    let library = busy.mapped("libssl.so");
    assert!(Path::new(&library).starts_with(folder.path()), "{library}");
    let mut probe = Hearing::start(&ProbeOptions { calls_per_second: 100, ..of_clients(server.address()) });
    let begun = Instant::now();
    while !probe.told().not_probed().any(|(file, _)| file == library) {
        assert!(begun.elapsed() < PATIENCE, "{:?}", probe.told().notices);
        busy.ask(50);
    }
    // The probes are detached when the connection is closed.
    while !probe.told().events.iter().any(|(_, event)| matches!(event, TapEvent::Closed { .. })) {
        assert!(begun.elapsed() < PATIENCE, "{:?}", probe.told().notices);
        busy.ask(1);
    }
    for client in [&mut busy, &mut other] {
        client.ask(2);
    }
    // A new process makes the probe examine the file once more.
    run(python("import ssl", &[]).env("LD_LIBRARY_PATH", folder.path()));
    let told = probe.finish();
    busy.end();
    other.end();

    assert_eq!(told.opened().len(), 1, "the other client came when nobody looked");
    let [.., (_, TapEvent::OutOfSight { .. }), (_, TapEvent::Closed { .. })] = told.events.as_slice() else {
        panic!("{:?}", told.events)
    };
    let left: Vec<&str> = told.not_probed().filter_map(|(file, why)| (file == library).then_some(why)).collect();
    let [why] = left.as_slice() else { panic!("{left:?}") };
    let rate: u64 = why.strip_prefix("its TLS functions are called ").unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(rate > 100 && why.contains("probes may cost 100 calls a second"), "{why}");
}

/// Copies the library of Python's TLS into a folder.
fn copy_of_its_library(server: &DemoServer, folder: &Path) {
    let client = Patient::start(server);
    let library = PathBuf::from(client.mapped("libssl.so"));
    client.end();
    std::fs::copy(&library, folder.join(library.file_name().unwrap())).unwrap();
}

/// The indices of the clients that were seen; all clients send requests.
#[track_caller]
pub(crate) fn seen<const N: usize>(options: &ProbeOptions, mut clients: [Patient; N]) -> Vec<usize> {
    let told = Told::during(options, || clients.iter_mut().for_each(|client| client.ask(2)));
    let processes: Vec<u32> = told.opened().iter().map(|info| info.process.as_ref().unwrap().pid).collect();
    let mut places: Vec<usize> =
        processes.iter().map(|process| clients.iter().position(|client| client.id() == *process).unwrap()).collect();
    places.sort_unstable();
    clients.into_iter().for_each(Patient::end);
    places
}
