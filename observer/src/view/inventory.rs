//! The table of a report with the objects that clients keep in memory.

use observer_core::observer::Snapshot;
use observer_core::reflector::{ReflectorRow, Representation};

use super::client::ClientPods;
use super::colour::Colour;
use super::quantity::{bytes, count, counted};
use super::table::{Align, Cell, Table};
use crate::printable::Printable;

/// Maximum number of clients in the table.
const MAX_CLIENTS: usize = 10;

/// Writes the clients that keep the most, each with its largest informer.
pub(super) fn inventory(snapshot: &Snapshot, colour: Colour, out: &mut Printable) {
    if snapshot.inventory.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        ("KEPT BY CLIENTS", Align::Left),
        ("INFORMERS", Align::Right),
        ("OBJECTS", Align::Right),
        ("GROWTH", Align::Right),
        ("LIST BYTES", Align::Right),
        ("LARGEST INFORMER", Align::Left),
    ]);
    let pods = ClientPods::of(snapshot);
    for client in snapshot.inventory.iter().take(MAX_CLIENTS) {
        let largest = client.informers.first().and_then(|id| snapshot.reflectors.iter().find(|row| row.reflector == *id));
        let cells = vec![
            Cell::new(pods.client(client.client_id, &client.client)),
            Cell::new(count(client.informers.len() as u64)),
            Cell::new(count(client.objects)),
            Cell::new(growth(client.grown)),
            Cell::new(bytes(client.bytes)),
            Cell::new(largest.map_or_else(String::new, informer)),
        ];
        table.row(cells, Vec::new());
    }
    out.end_line();
    table.render(colour, out);
    let more = snapshot.inventory.len().saturating_sub(MAX_CLIENTS);
    if more > 0 {
        out.push_line(format_args!("… and {} (all in --format json)", counted(more as u64, "more client")));
    }
}

/// `pods all namespaces, 1,704 full objects`.
fn informer(row: &ReflectorRow) -> String {
    let scope = row.shape.scope.as_ref().map(|scope| format!(" {scope}")).unwrap_or_default();
    format!("{}{scope}, {} {}", row.shape.resource, count(row.objects), form(row.representation))
}

/// `+31`, or `-` without growth.
pub(super) fn growth(grown: u64) -> String {
    if grown == 0 { "-".to_owned() } else { format!("+{}", count(grown)) }
}

/// How much of each object an informer keeps.
pub(super) const fn form(representation: Representation) -> &'static str {
    match representation {
        Representation::Object => "full objects",
        Representation::Metadata => "metadata",
        Representation::Table => "table rows",
    }
}
