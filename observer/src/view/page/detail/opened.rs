//! The detail of a row, by its kind.

use observer_core::observer::Snapshot;

use super::{client, finding, reflector, requests, storm};
use crate::view::colour::Tone;
use crate::view::page::line::Line;
use crate::view::page::request_row::RequestRow;
use crate::view::page::row::RowKey;
use crate::view::page::sheet::Sheet;

/// All facts of a snapshot about a row, on an empty sheet.
pub(in crate::view::page) fn opened(key: &RowKey, snapshot: &Snapshot, mut sheet: Sheet<'_>) -> Vec<Line> {
    if written(key, snapshot, &mut sheet).is_none() {
        sheet.print(Tone::Notable, "This is over, or was dropped to make room. esc goes back.");
    }
    sheet.into_lines()
}

/// Writes the facts about `key`; `None` if the snapshot has none.
fn written(key: &RowKey, snapshot: &Snapshot, sheet: &mut Sheet<'_>) -> Option<()> {
    match key {
        RowKey::Reflector(id) => {
            let row = snapshot.reflectors.iter().find(|row| row.reflector == *id)?;
            reflector::write(row, snapshot, sheet);
        }
        RowKey::Request(key) => {
            let row = RequestRow::all(snapshot).find(|row| row.key() == **key)?;
            requests::write(row, snapshot, sheet);
        }
        RowKey::Storm(id) => storm::write(snapshot.storms.iter().find(|storm| storm.storm == *id)?, sheet),
        RowKey::Client(id) => client::write(*id, snapshot, sheet)?,
        RowKey::Finding(id) => finding::write(snapshot.findings.iter().find(|finding| finding.id == *id)?, sheet),
    }
    Some(())
}
