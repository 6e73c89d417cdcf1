//! The policy and its binding, as one stream of YAML.

use super::cel::{Variable, filled, string, strings};
use super::facts::facts;
use super::operations::{MUTATION, operations};
use super::refusals::refusals;
use crate::injection::decision::DIRECTIVES;
use crate::injection::options::Options;
use crate::pod_layout::{CONTAINER, LABEL, LABEL_VALUE, OWN_VOLUME};

/// The name of both objects.
const NAME: &str = "watchtap-inject";

/// A pod that has a sidecar passes unchanged.
const HAS_NO_SIDECAR: &str = r#"
!object.spec.?initContainers.orValue([]).exists(c,
  c.name == <CONTAINER> && c.?restartPolicy.orValue("") == "Always" &&
  c.?volumeMounts.orValue([]).exists(m, m.name == <OWN_VOLUME>))
"#;

/// So does one with directives of a patch, which only these maps of a pod can have.
const IS_NO_PATCH: &str = r"
!object.spec.?volumes.orValue([]).exists(v,
  [v.?csi.?volumeAttributes.orValue({}), v.?flexVolume.?options.orValue({})]
  .exists(map, map.exists(key, <DIRECTIVES>.exists(directive, key.startsWith(directive)))))
";

/// `MutatingAdmissionPolicy` and `MutatingAdmissionPolicyBinding`, which Kubernetes 1.36 knows. A failure leaves the pod as it is.
pub(crate) fn policy(options: &Options) -> String {
    let values = [("CONTAINER", string(CONTAINER)), ("OWN_VOLUME", string(OWN_VOLUME)), ("DIRECTIVES", strings(&DIRECTIVES))];
    let conditions = [("has-no-sidecar", HAS_NO_SIDECAR), ("is-no-patch", IS_NO_PATCH)];
    let conditions = conditions.map(|(name, template)| named(name, &filled(template, &values))).concat();
    let variables: Vec<Variable> = [facts(options), refusals(), operations(options)].concat();
    let variables: String = variables.iter().map(|variable| named(variable.name, &variable.expression)).collect();
    format!(
        "\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata:
  name: {NAME}
spec:
  failurePolicy: Ignore
  reinvocationPolicy: Never
  matchConstraints:
    objectSelector:
      matchLabels:
        {LABEL}: {LABEL_VALUE}
    resourceRules:
    - apiGroups: [\"\"]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [pods]
  matchConditions:
{conditions}  variables:
{variables}  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: |-
{mutation}---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata:
  name: {NAME}
spec:
  policyName: {NAME}
",
        mutation = indented(MUTATION, 8)
    )
}

/// An item of a list of named expressions.
fn named(name: &str, expression: &str) -> String {
    format!("  - name: {name}\n    expression: |-\n{}", indented(expression, 6))
}

/// The lines of a block scalar.
fn indented(text: &str, spaces: usize) -> String {
    let indent = " ".repeat(spaces);
    text.lines().flat_map(|line| [indent.as_str(), line, "\n"]).collect()
}
