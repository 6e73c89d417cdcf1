//! Which processes are recorded, and which files are left alone.

use watchtap::demo::{DemoConfig, DemoServer};
use watchtap::tap::probe::ProbeOptions;

use super::clients::{of_clients, python, run};
use super::patient::Patient;
use super::told::Told;

/// Longer than the kernel keeps it.
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

/// The places of those clients that were seen, of clients that all ask.
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
