//! Limits on the cost of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::quantity::Quantity;
use super::usage::Usage;

/// Limits by quantity. A quantity that is absent has no limit.
pub type Allowance = BTreeMap<Quantity, u64>;

/// Limits on the cost of a run. Its JSON form is the file of `--budget` (schema `watchtap.budget/v1`, documented in
/// `docs/budget.md`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Schema of the file: [`Budget::SCHEMA`].
    pub schema: String,
    /// Limits on all resources together.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub total: Allowance,
    /// Limits by resource, as users type it: `pods`, `deployments.apps`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, Allowance>,
    /// Limits on each resource that `resources` does not name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_resources: Allowance,
}

/// A limit that was exceeded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Excess {
    /// The resource; `None` for a limit on all resources together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Quantity whose limit was exceeded.
    pub quantity: Quantity,
    /// The limit, in units of `quantity`.
    pub allowed: u64,
    /// The actual cost, in the same unit.
    pub used: u64,
}

impl Budget {
    /// Schema that is read and written.
    pub const SCHEMA: &'static str = "watchtap.budget/v1";

    /// The tightest budget that `usage` does not exceed. Its limits are the amounts of `usage`, plus a tenth for quantities that
    /// drift. It allows no lists of any other resource.
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

    /// The limits that `usage` exceeds: first those of the total, then those of each resource.
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
