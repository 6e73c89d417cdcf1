//! The objects that clients keep in memory, as far as their lists and watches show them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::exchange::{Client, ClientId};
use crate::observation::Process;
use crate::reflector::{ReflectorId, ReflectorRow};

/// The informers of one client that is connected: reflectors that have objects, and watch or relist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inventory {
    /// The number of the client.
    pub client_id: ClientId,
    /// The client, as its requests identify it.
    pub client: Client,
    /// Its process; `None` if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// Number of objects in all its informers.
    pub objects: u64,
    /// Bytes of the last complete list of each informer, as they were sent. The client needs more memory for the objects.
    pub bytes: u64,
    /// Number of objects by which the informers have grown since these lists.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub grown: u64,
    /// Its reflectors, those with the most bytes first.
    pub informers: Vec<ReflectorId>,
}

impl Inventory {
    /// The inventories of all connected clients, those with the most bytes first; at most `most`.
    pub(super) fn of_all(reflectors: &[ReflectorRow], most: usize) -> Vec<Self> {
        let mut clients: BTreeMap<ClientId, Vec<&ReflectorRow>> = BTreeMap::new();
        let keeps =
            |row: &&ReflectorRow| (row.is_watching() || row.relisting.is_some()) && row.objects.is_above(0) && !row.client_left;
        reflectors.iter().filter(keeps).for_each(|row| clients.entry(row.client_id).or_default().push(row));
        let mut all: Vec<Self> = clients.into_values().filter_map(Self::of).collect();
        all.sort_by_key(|inventory| (Reverse((inventory.bytes, inventory.objects)), inventory.client_id));
        all.truncate(most);
        all
    }

    fn of(mut rows: Vec<&ReflectorRow>) -> Option<Self> {
        rows.sort_by_key(|row| (Reverse((row.last_list_bytes, row.objects)), row.reflector));
        let first = *rows.first()?;
        let sum = |of: fn(&ReflectorRow) -> u64| rows.iter().map(|row| of(row)).fold(0, u64::saturating_add);
        Some(Self {
            client_id: first.client_id,
            client: first.client.clone(),
            process: first.process.clone(),
            objects: sum(|row| row.objects.or_zero()),
            bytes: sum(|row| row.last_list_bytes.or_zero()),
            grown: sum(ReflectorRow::grown),
            informers: rows.iter().map(|row| row.reflector).collect(),
        })
    }
}
