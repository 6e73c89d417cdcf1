//! The table of a report with the clients and their requests.

use observer_core::observer::Snapshot;
use observer_core::reflector::{ClientRequests, ClientRow};

use super::client::ClientPods;
use super::colour::{Colour, Tone};
use super::quantity::{bytes, count, counted, microseconds};
use super::table::{Align, Cell, Table};
use crate::printable::Printable;

/// Maximum number of clients in the table.
const MAX_CLIENTS: usize = 10;

/// Writes the clients whose requests took longest in total.
pub(super) fn clients(snapshot: &Snapshot, pods: &ClientPods, colour: Colour, out: &mut Printable) {
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
    ]);
    for row in snapshot.clients.iter().take(MAX_CLIENTS) {
        let ClientRequests { requests, lists, watches, failed, bytes: received, total_us, .. } = row.requests;
        let cells = vec![
            Cell::new(name(row, pods)),
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

/// `3`, `≥ 3` if the layer of other lists is unknown, `?` if no layer is known.
fn from_etcd(requests: &ClientRequests) -> String {
    let ClientRequests { lists, lists_from_etcd, lists_unknown, .. } = *requests;
    match (lists_from_etcd, lists_unknown) {
        (known, 0) => count(known),
        (0, unknown) if unknown == lists => "?".to_owned(),
        (known, _) => format!("≥ {}", count(known)),
    }
}
