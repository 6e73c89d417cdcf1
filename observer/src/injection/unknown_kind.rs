//! Objects that have a template of a pod, although it is unknown how their kind uses it.

use super::object::{Unknown, api_version_of};
use super::options::Options;
use super::outcome::{Outcome, Refusal};

impl Unknown {
    /// The result for this object, which passes unchanged.
    pub(super) fn outcome(&self, options: &Options) -> Outcome {
        let is_selected = |name: &String| options.containers.is_empty() || options.containers.contains(name);
        if self.containers.iter().any(is_selected) { self.refusal().outcome() } else { Outcome::NotSelected }
    }

    fn refusal(&self) -> Refusal {
        let kind = &self.kind;
        let group = self.group();
        // Groups of custom resources have a dot.
        let right = if group.contains('.') { None } else { api_version_of(kind) };
        if let Some(right) = right {
            return Refusal::new(
                format!("apiVersion {} has no {kind}, so the API server would refuse it", self.api_version),
                format!("correct it to {right}"),
            );
        }
        let of_group = if group.is_empty() { String::new() } else { format!(" of {group}") };
        let remedy = match kind.as_str() {
            "Template" => "process it first (`oc process`), and inject the result".to_owned(),
            "DeploymentConfig" => "replace it by a Deployment, or observe its pods on the node with `watchtap probe`".to_owned(),
            _ => format!(
                "if {kind} runs pods, give them the sidecar by the means of its operator, or observe them on the node with \
                 `watchtap probe`"
            ),
        };
        Refusal::passing(format!("inject does not know {kind}{of_group}, which has a template of a pod"), remedy)
    }
}
