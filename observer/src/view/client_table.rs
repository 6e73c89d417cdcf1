//! The table of a report with the clients and their requests.

use observer_core::observer::Snapshot;
use observer_core::reflector::{ClientRequests, ClientRow};

use super::client::ClientPods;
use super::colour::{Colour, Tone};
use super::etcd;
use super::quantity::{bytes, count, counted, microseconds};
use super::table::{Align, Cell, Table};
use crate::printable::Printable;

/// Maximum number of clients in the table.
const MAX_CLIENTS: usize = 10;

/// Writes the clients whose requests took longest in total.
pub(super) fn clients(snapshot: &Snapshot, pods: &ClientPods, is_log: bool, colour: Colour, out: &mut Printable) {
    if snapshot.clients.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        ("CLIENTS", Align::Left),
        ("REQUESTS", Align::Right),
        ("LISTS", Align::Right),
        ("FROM ETCD", Align::Right),
        ("WATCHES", Align::Right),
        ("FAILED", Align::Right),
        ("BYTES", Align::Right),
        ("TIME (SUM)", Align::Right),
    ])
    .of_log(is_log);
    let shown = || snapshot.clients.iter().take(MAX_CLIENTS);
    let mut names: Vec<String> = shown().map(|row| name(row, pods)).collect();
    let places: Vec<Option<String>> = shown().map(place).collect();
    let alike: Vec<bool> = names.iter().map(|name| names.iter().filter(|other| *other == name).count() > 1).collect();
    for ((name, place), is_alike) in names.iter_mut().zip(places).zip(alike) {
        if let Some(place) = place.filter(|_| is_alike) {
            name.extend([" ", &place]);
        }
    }
    for (row, name) in shown().zip(names) {
        let ClientRequests { requests, lists, watches, failed, bytes: received, total_us, .. } = row.requests;
        let cells = vec![
            Cell::new(name),
            Cell::new(count(requests)),
            Cell::new(count(lists)),
            Cell::new(from_etcd(&row.requests)),
            Cell::new(count(watches)),
            Cell::toned(count(failed), if failed > 0 { Tone::Notable } else { Tone::Plain }),
            Cell::new(bytes(received)),
            Cell::new(microseconds(total_us)),
        ];
        table.row(cells, Vec::new());
    }
    out.end_line();
    table.render(colour, out);
    let more = (snapshot.clients.len().saturating_sub(MAX_CLIENTS) as u64).saturating_add(snapshot.missed.clients_not_shown);
    if more > 0 {
        out.push_line(format_args!(
            "… and {} (the first {} in --format json)",
            counted(more, "more client"),
            snapshot.clients.len()
        ));
    }
}

/// The client with its pod. A name that a library sends by default is followed by the client's user.
fn name(row: &ClientRow, pods: &ClientPods) -> String {
    let user = row.client.user_of_unnamed().map(|user| format!(" ({user})")).unwrap_or_default();
    format!("{}{user}", pods.client(row.client_id, &row.client))
}

/// The place that distinguishes a client from others of the same name: its address in a log, or its process.
fn place(row: &ClientRow) -> Option<String> {
    row.address.clone().or_else(|| row.process.as_ref().map(|process| format!("pid {}", process.pid)))
}

/// The number of its lists that were read from etcd, as far as layers are known.
pub(super) fn from_etcd(requests: &ClientRequests) -> String {
    etcd::bound(requests.lists_from_etcd, requests.lists_unknown)
}

#[cfg(test)]
mod tests {
    use observer_core::exchange::{Client, ClientId};
    use observer_core::observer::{Limits, Observer};

    use super::*;

    #[test]
    fn clients_of_one_name_have_their_addresses() {
        let requests = ClientRequests { requests: 7, lists: 3, lists_unknown: 2, lists_from_etcd: 1, ..ClientRequests::NONE };
        let row = |id: u64, program: &str, address: &str| ClientRow {
            client_id: ClientId(id),
            client: Client { program: program.to_owned(), ..Client::default() },
            process: None,
            address: Some(address.to_owned()),
            requests,
        };
        let clients =
            vec![row(1, "kubelet/v1.34.0", "10.0.0.1"), row(2, "kubelet/v1.34.0", "10.0.0.2"), row(3, "other/1", "10.0.0.3")];
        let snapshot = Snapshot { clients, ..Observer::new(Limits::default()).snapshot() };
        let mut out = Printable::new();
        super::clients(&snapshot, &ClientPods::default(), true, Colour::Off, &mut out);
        let text = out.into_string();
        let lines: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[1][..6], ["kubelet/v1.34.0", "10.0.0.1", "7", "3", "≥", "1"], "{text}");
        assert_eq!((lines[2][1], lines[3][1]), ("10.0.0.2", "7"), "{text}");
    }

    #[test]
    fn number_of_lists_from_etcd_is_a_bound_if_layers_are_unknown() {
        let shown =
            |lists_from_etcd, lists_unknown| from_etcd(&ClientRequests { lists_from_etcd, lists_unknown, ..ClientRequests::NONE });
        assert_eq!([shown(0, 0), shown(3, 0), shown(0, 1), shown(3, 1)], ["0", "3", "?", "≥ 3"]);
    }
}
