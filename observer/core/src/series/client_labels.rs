//! Labels with which the metrics of clients can also name their pods, or their units on the host.

use crate::observation::Process;

/// A label for a part of the place where a client runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClientLabel {
    /// The namespace of its pod.
    Namespace,
    /// Of its pod, as the kubelet names it on the node.
    PodName,
    /// As in the specification of its pod.
    ContainerName,
    /// The name of its workload, which is derived from that of the pod.
    WorkloadName,
    /// The systemd service of a process that is in no pod. All units of other types share the value `no service`, as sessions and other
    /// scopes are many and short.
    UnitName,
}

/// The labels that metrics of clients have besides their program and `ServiceAccount`; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientLabels([bool; ClientLabel::ALL.len()]);

impl ClientLabel {
    /// All of them, in the order of the output.
    pub const ALL: [Self; 5] = [Self::Namespace, Self::PodName, Self::ContainerName, Self::WorkloadName, Self::UnitName];

    /// The label in the output. Prometheus gives `namespace`, `pod` and `container` to the scraped process itself.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Namespace => "client_namespace",
            Self::PodName => "client_pod",
            Self::ContainerName => "client_container",
            Self::WorkloadName => "client_workload",
            Self::UnitName => "client_unit",
        }
    }

    /// The word that selects it: the name without `client_`.
    pub fn word(self) -> &'static str {
        self.name().trim_start_matches("client_")
    }

    fn of(self, process: &Process) -> &str {
        let container = process.container.as_ref();
        let pod = container.and_then(|container| container.pod.as_ref());
        let text = match self {
            Self::Namespace => pod.map(|pod| &pod.namespace),
            Self::PodName => pod.map(|pod| &pod.name),
            Self::ContainerName => container.and_then(|container| container.name.as_ref()),
            Self::WorkloadName => pod.and_then(|pod| pod.workload.as_ref()).map(|workload| &workload.name),
            Self::UnitName => return process.unit.as_deref().map_or("", of_unit),
        };
        text.map_or("", String::as_str)
    }
}

/// The value of [`ClientLabel::UnitName`] for units that are no services.
const OTHER_UNITS: &str = "no service";

fn of_unit(unit: &str) -> &str {
    if unit.ends_with(".service") { unit } else { OTHER_UNITS }
}

impl ClientLabels {
    /// Every label.
    pub const ALL: Self = Self([true; ClientLabel::ALL.len()]);

    /// The given labels.
    pub fn new(labels: &[ClientLabel]) -> Self {
        Self(ClientLabel::ALL.map(|label| labels.contains(&label)))
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// The selected labels, in the order of the output.
    pub fn iter(self) -> impl Iterator<Item = ClientLabel> {
        ClientLabel::ALL.into_iter().zip(self.0).filter_map(|(label, is_selected)| is_selected.then_some(label))
    }

    /// The values of all labels; empty for those that are unknown or not selected.
    pub(super) fn values(self, process: Option<&Process>) -> [&str; ClientLabel::ALL.len()] {
        let Some(process) = process else { return Default::default() };
        ClientLabel::ALL.map(|label| if self.iter().any(|own| own == label) { label.of(process) } else { "" })
    }
}
