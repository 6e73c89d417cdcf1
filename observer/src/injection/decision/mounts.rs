//! The mounts of a led container: the volume with its token moves aside, and the sidecar's files take its place.

use serde_json::{Value, json};

use super::containers::Container;
use super::volumes::TOKEN_VOLUME;
use crate::injection::change::{Addition, Changes, Item, Place, Replacement};
use crate::pod_layout::{MOVED_SERVICE_ACCOUNT, SERVICE_ACCOUNT, TRUST_VOLUME};

/// Whether injection may add a mount at this path.
pub(in crate::injection) fn is_added_mount(path: &str) -> bool {
    path == SERVICE_ACCOUNT || path == MOVED_SERVICE_ACCOUNT
}

pub(super) fn lead(container: &Container<'_>, changes: &mut Changes) {
    let mut items = vec![trust()];
    match container.service_account_mount().and_then(|mount| mount.get("mountPath")).and_then(Value::as_str) {
        Some(path) => {
            let at = container.place("volumeMounts").with(path).with("mountPath");
            changes.replacements.push(Replacement { at, to: MOVED_SERVICE_ACCOUNT.to_owned() });
        }
        None => items.push(mount(TOKEN_VOLUME, MOVED_SERVICE_ACCOUNT)),
    }
    changes.additions.push(Addition { to: container.place("volumeMounts"), place: Place::Last, items });
}

/// The mount of the sidecar's files.
pub(in crate::injection) fn trust() -> Item {
    mount(TRUST_VOLUME, SERVICE_ACCOUNT)
}

fn mount(volume: &str, path: &str) -> Item {
    Item { name: path.to_owned(), value: json!({"name": volume, "mountPath": path, "readOnly": true}) }
}

/// A path without empty and `.` segments, as the kubelet reads it.
pub(super) fn clean(path: &str) -> String {
    let segments = path.split('/').filter(|segment| !matches!(*segment, "" | "."));
    segments.flat_map(|segment| ["/", segment]).collect()
}
