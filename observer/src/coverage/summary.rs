//! All pods that request a sidecar, and the numbers of their workloads.

use std::collections::BTreeMap;

use super::admission::Admission;
use super::document::List;
use super::pod::Pod;
use super::scope::Scope;
use super::sidecar::{Sidecar, Standing};
use super::workload::Workload;
use crate::pod_layout::ADMITTED;

/// The answer to `watchtap status`.
#[derive(Clone, Debug)]
pub(crate) struct Coverage {
    pub(crate) scope: Scope,
    pub(crate) admission: Admission,
    /// Those without a sidecar first; within each part, by namespace, workload and name.
    pub(crate) pods: Vec<PodRow>,
    /// By namespace and workload.
    pub(crate) workloads: Vec<WorkloadRow>,
}

/// A pod that requests a sidecar.
#[derive(Clone, Debug)]
pub(crate) struct PodRow {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) workload: Workload,
    pub(crate) sidecar: Sidecar,
    pub(crate) standing: Standing,
    /// The version of the sidecar, if admission added it.
    pub(crate) version: Option<String>,
}

/// The pods of one workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkloadRow {
    pub(crate) namespace: String,
    pub(crate) workload: Workload,
    pub(crate) with: usize,
    pub(crate) without: usize,
    pub(crate) finished: usize,
    pub(crate) leaving: usize,
}

impl Coverage {
    pub(super) fn of(scope: Scope, pods: List<Pod>, admission: Admission) -> Self {
        let mut rows: Vec<PodRow> = Vec::new();
        for pod in pods.items.unwrap_or_default() {
            let workload = Workload::of(&pod);
            let sidecar = Sidecar::of(&pod, &workload, &admission);
            let standing = sidecar.standing(&pod);
            let version = pod.annotation(ADMITTED).map(str::to_owned);
            rows.push(PodRow { namespace: pod.metadata.namespace, name: pod.metadata.name, workload, sidecar, standing, version });
        }
        rows.sort_by(|one, other| {
            let key = |row: &PodRow| (row.standing, row.namespace.clone(), row.workload.clone(), row.name.clone());
            key(one).cmp(&key(other))
        });
        let workloads = workloads(&rows);
        Self { scope, admission, pods: rows, workloads }
    }

    pub(crate) fn number_of(&self, standing: Standing) -> usize {
        self.pods.iter().filter(|pod| pod.standing == standing).count()
    }
}

fn workloads(pods: &[PodRow]) -> Vec<WorkloadRow> {
    let mut found: BTreeMap<(&String, &Workload), WorkloadRow> = BTreeMap::new();
    for pod in pods {
        let row = found.entry((&pod.namespace, &pod.workload)).or_insert_with(|| WorkloadRow {
            namespace: pod.namespace.clone(),
            workload: pod.workload.clone(),
            with: 0,
            without: 0,
            finished: 0,
            leaving: 0,
        });
        match pod.standing {
            Standing::With => row.with += 1,
            Standing::Without => row.without += 1,
            Standing::Finished => row.finished += 1,
            Standing::Leaving => row.leaving += 1,
        }
    }
    found.into_values().collect()
}
