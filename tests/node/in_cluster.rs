//! A client of client-go in a pod: configuration, credentials and address are those that the cluster gives it.

use std::collections::BTreeSet;

use observer_tests::go_client;
use observer_tests::node::{Call, Image, Node, PodSecurity};

pub(crate) const IMAGE: &str = "localhost/client:1";

#[test]
fn client_go_reaches_the_api_server_by_the_address_of_its_service() {
    let node = Node::shared().unwrap();
    node.load(&Image::new(IMAGE).copy(go_client().unwrap(), "/client").entrypoint(&["/client"])).unwrap();
    let namespace = node.namespace("client", PodSecurity::Baseline).unwrap();
    namespace.kubectl(&["create", "configmap", "one"]).unwrap();
    namespace.kubectl(&["create", "configmap", "two"]).unwrap();
    namespace.apply(&job(namespace.name())).unwrap();
    namespace.wait("job/client", "condition=Complete").unwrap();

    let user = namespace.user("client");
    let calls = node.calls(&user).unwrap();
    for (agent, verb) in [("typed", "list"), ("typed", "watch"), ("dynamic", "watch"), ("metadata", "watch"), ("discovery", "get")]
    {
        let agent = format!("{agent}-client/v1.2.3");
        let answered = |call: &Call| call.verb == verb && call.user_agent.starts_with(&agent) && call.status == Some(200);
        assert!(calls.iter().any(answered), "no {verb} of {agent} in {calls:#?}");
    }
    // Tokens of a service account differ in this, so a test can see when a client takes a new one.
    let credentials: BTreeSet<_> = calls.iter().map(|call| call.credential.as_deref().unwrap()).collect();
    assert_eq!(credentials.len(), 1, "{credentials:?}");
    let events = node.audit_log().unwrap();
    let sources: Vec<&str> = events
        .iter()
        .filter(|event| event["user"]["username"] == user.as_str())
        .map(|event| event["sourceIPs"][0].as_str().unwrap())
        .collect();
    assert!(sources.iter().all(|source| source.starts_with("10.244.0.")), "{sources:?}");
}

pub(crate) fn job(namespace: &str) -> String {
    format!(
        "
apiVersion: v1
kind: ServiceAccount
metadata: {{name: client}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: client}}
rules: [{{apiGroups: [''], resources: [configmaps], verbs: ['*']}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: client}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: client}}
subjects: [{{kind: ServiceAccount, name: client}}]
---
apiVersion: batch/v1
kind: Job
metadata: {{name: client}}
spec:
  template:
    spec:
      serviceAccountName: client
      restartPolicy: Never
      containers: [{{name: client, image: '{IMAGE}', args: [{namespace}]}}]
"
    )
}
