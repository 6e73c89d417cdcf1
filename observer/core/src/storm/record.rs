//! A storm as plain data.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::trigger::Trigger;
use crate::exchange::{Client, ClientId, Shape, of_structure};
use crate::observation::UpstreamName;
use crate::quantity::Amount;
use crate::reflector::ReflectorId;
use crate::time::Timestamp;

/// A storm, numbered from 1 in order of their declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct StormId(pub u64);

impl fmt::Display for StormId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Whether one client or several take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StormKind {
    /// All reflectors belong to one client.
    Client,
    /// The reflectors belong to several clients.
    Clients,
}

/// A reflector in a storm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StormMember {
    /// Its number.
    pub reflector: ReflectorId,
    /// The number of its client.
    pub client_id: ClientId,
    /// Its client, as its requests identify it.
    pub client: Client,
    /// Resource, objects and options of its lists.
    #[serde(flatten)]
    pub shape: Shape,
    /// Number of relists that it began in the storm.
    pub relists: u64,
    /// Requests of its complete lists.
    pub requests: u64,
    /// Items of its complete lists.
    pub items: Amount,
    /// Response bytes of its complete lists.
    pub bytes: Amount,
    /// Items that were unchanged since the last delivery.
    pub repeated: Amount,
}

impl StormMember {
    /// Estimated memory in bytes.
    pub(super) fn memory(&self) -> usize {
        of_structure::<Self>() + self.client.memory() + self.shape.memory()
    }
}

/// An ongoing or past storm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StormRecord {
    /// Its number.
    pub storm: StormId,
    /// Whether one client or several take part.
    pub kind: StormKind,
    /// The event that set it off.
    pub trigger: Trigger,
    /// Its API server; empty if clients used only one.
    #[serde(skip_serializing_if = "UpstreamName::is_empty")]
    pub upstream: UpstreamName,
    /// Start of its first relist.
    pub began: Timestamp,
    /// When it was declared a storm, at the relist that completed the required number.
    pub named: Timestamp,
    /// When its last member joined, with its first relist in the storm. The length of the storm is the time until then.
    pub last: Timestamp,
    /// When it ended, after enough time without a new member; `None` while it is ongoing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// Number of its members.
    pub reflectors: u64,
    /// Number of its members' clients.
    pub clients: u64,
    /// Number of relists that its members began.
    pub relists: u64,
    /// Number of these relists that are complete.
    pub complete: u64,
    /// Highest rate of relists per second, averaged over about a second.
    pub peak_per_second: u64,
    /// Items of the complete lists.
    pub items: Amount,
    /// Response bytes of the complete lists.
    pub bytes: Amount,
    /// Items that were unchanged since the last delivery.
    pub repeated: Amount,
    /// Number of complete lists, by the layer that answered.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub served_from: BTreeMap<String, u64>,
    /// Number of relists, by cause.
    pub causes: BTreeMap<String, u64>,
    /// Its members, those with the most bytes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<StormMember>,
    /// Number of members that `members` omits.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub members_omitted: u64,
    /// Number of members whose latest list is not complete yet, perhaps after many attempts.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub without_list: u64,
    /// Some of these members.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlisted: Vec<StormMember>,
}

impl StormRecord {
    /// Removes the API server's name, for runs with only one API server.
    pub fn drop_upstream_name(&mut self) {
        self.upstream = UpstreamName::default();
        self.members.iter_mut().chain(&mut self.unlisted).for_each(|member| member.shape.upstream = None);
    }
}
