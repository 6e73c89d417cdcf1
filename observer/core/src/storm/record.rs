//! A storm as plain data.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::trigger::Trigger;
use crate::exchange::{Client, Shape, of_structure};
use crate::observation::UpstreamName;
use crate::reflector::{ClientId, ReflectorId};
use crate::time::Timestamp;

/// A storm, numbered from 1 in the order in which they began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct StormId(pub u64);

impl fmt::Display for StormId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Whose reflectors take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StormKind {
    /// Those of one client.
    Client,
    /// Those of several.
    Clients,
}

/// A reflector in a storm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StormMember {
    /// Which.
    pub reflector: ReflectorId,
    /// The number of its client.
    pub client_id: ClientId,
    /// Its client.
    pub client: Client,
    /// What it lists.
    #[serde(flatten)]
    pub shape: Shape,
    /// How often it began to list in the storm.
    pub relists: u64,
    /// Requests of the lists that are whole.
    pub requests: u64,
    /// Their items.
    pub items: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Items that it had in the very version.
    pub repeated: u64,
}

impl StormMember {
    /// About how much memory it takes, in bytes.
    pub(super) fn memory(&self) -> usize {
        of_structure::<Self>() + self.client.memory() + self.shape.memory()
    }
}

/// A storm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StormRecord {
    /// Its number.
    pub storm: StormId,
    /// Whose reflectors take part.
    pub kind: StormKind,
    /// What set it off.
    pub trigger: Trigger,
    /// On which API server; nothing where there is one.
    #[serde(skip_serializing_if = "UpstreamName::is_empty")]
    pub upstream: UpstreamName,
    /// When its first member began to list.
    pub began: Timestamp,
    /// When it was named: with the reflector that makes it a storm.
    pub named: Timestamp,
    /// When its last member joined: began to list for the first time in it. The storm is as long as that took.
    pub last: Timestamp,
    /// When it was over: nobody had joined for as long as makes a storm; nothing while somebody may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// Reflectors in it.
    pub reflectors: u64,
    /// Clients in it.
    pub clients: u64,
    /// Lists that its members began.
    pub relists: u64,
    /// Those of them that are complete.
    pub complete: u64,
    /// The most lists a second, over about a second.
    pub peak_per_second: u64,
    /// Items of the lists that are whole.
    pub items: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their items that the reflectors had in the very version.
    pub repeated: u64,
    /// Lists that are whole, by the layer that answered.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub served_from: BTreeMap<String, u64>,
    /// Lists by cause.
    pub causes: BTreeMap<String, u64>,
    /// Its members, those with the most bytes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<StormMember>,
    /// Members that are not among them.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub members_not_told: u64,
    /// Members whose list is not complete yet, perhaps after many attempts.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub without_list: u64,
    /// Some of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlisted: Vec<StormMember>,
}

impl StormRecord {
    /// Where there is one API server, nobody needs to hear its name.
    pub fn drop_upstream_name(&mut self) {
        self.upstream = UpstreamName::default();
        self.members.iter_mut().chain(&mut self.unlisted).for_each(|member| member.shape.upstream = None);
    }
}
