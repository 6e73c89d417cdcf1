//! The releases at which a table or a gate changes.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::list_eras::LIST_ERAS;
use super::not_ready::{GET_NOT_READY, LIST_NOT_READY, WATCH_NOT_READY};
use super::validation::REFUSALS;
use super::watch::WATCHES;
use crate::routing::gates::Gate;
use crate::routing::version::{Release, Versions};

/// The first release of every minor, and every release in which a table or a gate changes; in order.
pub(in crate::routing) fn boundaries() -> &'static BTreeSet<Release> {
    static BOUNDARIES: LazyLock<BTreeSet<Release>> = LazyLock::new(found);
    &BOUNDARIES
}

fn found() -> BTreeSet<Release> {
    let minors = (Release::OLDEST.minor..=Release::NEWEST.minor).map(|minor| Release::new(minor, 0));
    let changes = table_versions().flat_map(|versions| [versions.first, versions.last.next()]);
    let all = minors.chain(changes).chain(Gate::boundaries());
    all.filter(|release| Versions::ALL.contains(*release)).collect()
}

fn table_versions() -> impl Iterator<Item = Versions> {
    let lists = LIST_ERAS.iter().map(|era| era.versions);
    let watches = WATCHES.iter().map(|row| row.versions);
    let refusals = REFUSALS.iter().map(|row| row.versions);
    let not_ready = [LIST_NOT_READY, GET_NOT_READY, WATCH_NOT_READY].into_iter().flatten().map(|row| row.versions);
    lists.chain(watches).chain(refusals).chain(not_ready)
}
