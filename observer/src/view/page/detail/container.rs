//! The container and the pod of a client.

use observer_core::reflector::ReflectorRow;

use crate::view::colour::Tone;
use crate::view::page::sheet::Sheet;

/// Writes nothing if they are unknown.
pub(super) fn container(row: &ReflectorRow, sheet: &mut Sheet<'_>) {
    if let Some(container) = row.process.as_ref().and_then(|process| process.container.as_ref()) {
        sheet.fact("container", Tone::Plain, &container.id);
        sheet.fact("pod UID", Tone::Plain, &container.pod_uid);
    }
}
