//! What a run may cost.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::quantity::Quantity;
use super::usage::Usage;

/// A quantity that is not named has no limit.
pub type Allowance = BTreeMap<Quantity, u64>;

/// What a run may cost. Its JSON form is the file of `--budget` (schema `watchtap.budget/v1`, documented in `docs/budget.md`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// [`Budget::SCHEMA`].
    pub schema: String,
    /// In all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub total: Allowance,
    /// By resource, as people type it: `pods`, `deployments.apps`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, Allowance>,
    /// For each resource that is not named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_resources: Allowance,
}

/// A limit that was exceeded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Excess {
    /// Of which resource; nothing where it is the limit of all together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Which limit.
    pub quantity: Quantity,
    /// How much was allowed.
    pub allowed: u64,
    /// How much it was.
    pub used: u64,
}

impl Budget {
    /// The schema that is read and written.
    pub const SCHEMA: &'static str = "watchtap.budget/v1";

    /// What `usage` just keeps: as much as it was, with a tenth on top where numbers drift, and nothing of resources that it did not touch.
    pub fn just_kept_by(usage: &Usage) -> Self {
        let allowance = |used: &BTreeMap<Quantity, u64>| -> Allowance {
            let each = |quantity: Quantity| {
                let used = used.get(&quantity).copied().unwrap_or(0);
                (quantity, if quantity.drifts() { used.saturating_add(used.div_ceil(10)) } else { used })
            };
            Quantity::ALL.into_iter().map(each).collect()
        };
        Self {
            schema: Self::SCHEMA.to_owned(),
            total: allowance(&usage.total),
            resources: usage.resources.iter().map(|(resource, used)| (resource.clone(), allowance(used))).collect(),
            other_resources: BTreeMap::from([(Quantity::Lists, 0)]),
        }
    }

    /// The limits that `usage` exceeds: those of all together, then those of each resource.
    pub fn exceeded_by(&self, usage: &Usage) -> Vec<Excess> {
        let mut exceeded = Vec::new();
        let mut compare = |resource: Option<&str>, allowance: &Allowance, used: &BTreeMap<Quantity, u64>| {
            for (quantity, allowed) in allowance {
                let used = used.get(quantity).copied().unwrap_or(0);
                if used > *allowed {
                    let resource = resource.map(str::to_owned);
                    exceeded.push(Excess { resource, quantity: *quantity, allowed: *allowed, used });
                }
            }
        };
        compare(None, &self.total, &usage.total);
        for (resource, used) in &usage.resources {
            compare(Some(resource), self.resources.get(resource).unwrap_or(&self.other_resources), used);
        }
        exceeded
    }
}
