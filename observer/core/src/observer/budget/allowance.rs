//! Limits on the cost and the findings of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::quantity::Quantity;
use super::usage::Usage;
use crate::finding_kind::FindingKind;

/// Limits by quantity. A quantity that is absent has no limit.
pub type Allowance = BTreeMap<Quantity, u64>;

/// Limits on the cost and the findings of a run. Its JSON form is the file of `--budget` (schema `watchtap.budget/v1`, documented in
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
    /// Maximum numbers of findings, by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub findings: BTreeMap<FindingKind, u64>,
    /// Maximum number of findings of each kind that `findings` does not name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_findings: Option<u64>,
}

/// A limit that was exceeded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Excess {
    /// The quantity or the kind of finding.
    #[serde(flatten)]
    pub limited: Limited,
    /// The limit: a count, or bytes for [`Quantity::Bytes`].
    pub allowed: u64,
    /// The actual amount, in the same unit.
    pub used: u64,
}

/// A quantity or a kind of finding that a limit is set for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Limited {
    /// A quantity of a resource.
    Cost {
        /// The resource; `None` for all resources together.
        #[serde(skip_serializing_if = "Option::is_none")]
        resource: Option<String>,
        /// Quantity that is limited.
        quantity: Quantity,
    },
    /// The number of findings of a kind.
    Findings {
        /// The kind.
        finding: FindingKind,
    },
}

impl Budget {
    /// Schema that is read and written.
    pub const SCHEMA: &'static str = "watchtap.budget/v1";

    /// A budget that a run with this `usage` keeps. Each limit is the amount in `usage`, plus a tenth for quantities that drift.
    /// The budget allows no lists of other resources, and no findings of other kinds.
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
            findings: usage.findings.clone(),
            other_findings: Some(0),
        }
    }

    /// The limits that `usage` exceeds: first limits on the total, then limits on resources, then limits on findings.
    pub fn exceeded_by(&self, usage: &Usage) -> Vec<Excess> {
        let of_resource = |resource: &String| self.resources.get(resource).unwrap_or(&self.other_resources);
        let resources = usage.resources.iter().flat_map(|(resource, used)| excesses(Some(resource), of_resource(resource), used));
        excesses(None, &self.total, &usage.total).chain(resources).chain(self.findings_exceeded_by(usage)).collect()
    }

    fn findings_exceeded_by(&self, usage: &Usage) -> impl Iterator<Item = Excess> {
        usage.findings.iter().filter_map(|(finding, used)| {
            let allowed = self.findings.get(finding).copied().or(self.other_findings)?;
            let limited = Limited::Findings { finding: *finding };
            (*used > allowed).then_some(Excess { limited, allowed, used: *used })
        })
    }
}

/// The limits in `allowance` that `used` exceeds. They apply to `resource`, or to the total if it is `None`.
fn excesses(resource: Option<&String>, allowance: &Allowance, used: &BTreeMap<Quantity, u64>) -> impl Iterator<Item = Excess> {
    allowance.iter().filter_map(move |(quantity, allowed)| {
        let used = used.get(quantity).copied().unwrap_or(0);
        let limited = Limited::Cost { resource: resource.cloned(), quantity: *quantity };
        (used > *allowed).then_some(Excess { limited, allowed: *allowed, used })
    })
}
