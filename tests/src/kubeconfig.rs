//! Kubeconfig files of a test cluster, with one user each and all data inline.

use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::credentials::{ADMIN_TOKEN, Credentials, Identity, VISITOR_TOKEN};

/// With a bearer token.
pub(crate) fn with_token(server: &str, authority: &str, user: &str, token: &str) -> String {
    document(server, authority, user, &format!("token: {token}"))
}

/// With a client certificate.
pub(crate) fn with_certificate(server: &str, authority: &str, user: &str, identity: &Identity) -> String {
    let certificate = BASE64_STANDARD.encode(&identity.certificate);
    let key = BASE64_STANDARD.encode(&identity.key);
    document(server, authority, user, &format!("client-certificate-data: {certificate}\n    client-key-data: {key}"))
}

/// With an exec plugin that prints the file `credential` and counts its runs in a file beside it.
pub(crate) fn with_exec_plugin(server: &str, authority: &str, user: &str, credential: &Path) -> String {
    let script = format!("echo run >> '{0}.runs'; cat '{0}'", credential.display());
    let exec = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", script], "interactiveMode": "IfAvailable",
        "provideClusterInfo": true,
    });
    document(server, authority, user, &format!("exec: {exec}"))
}

/// The `ExecCredential` that such a plugin prints.
pub(crate) fn exec_credential(status: &Value) -> String {
    json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}).to_string()
}

/// One cluster under two names, and several users with a context each.
pub(crate) fn with_contexts(server: &str, port: u16, credentials: &Credentials, user: &str) -> String {
    let authority = format!("certificate-authority-data: {}", BASE64_STANDARD.encode(&credentials.authority));
    let [certificate, key] = [&credentials.admin.certificate, &credentials.admin.key].map(|pem| BASE64_STANDARD.encode(pem));
    format!(
        "apiVersion: v1
kind: Config
current-context: admin
contexts:
- {{name: admin, context: {{cluster: one, user: {user}}}}}
- {{name: visitor, context: {{cluster: one, user: visitor, namespace: default}}}}
- {{name: certificate, context: {{cluster: one, user: certificate}}}}
- {{name: rotating, context: {{cluster: one, user: rotating}}}}
- {{name: renamed, context: {{cluster: renamed, user: {user}}}}}
clusters:
- {{name: one, cluster: {{server: '{server}', {authority}}}}}
- {{name: renamed, cluster: {{server: 'https://localhost:{port}', tls-server-name: 127.0.0.1, {authority}}}}}
users:
- {{name: {user}, user: {{token: {ADMIN_TOKEN}}}}}
- {{name: visitor, user: {{token: {VISITOR_TOKEN}}}}}
- {{name: certificate, user: {{client-certificate-data: {certificate}, client-key-data: {key}}}}}
- {{name: rotating, user: {{tokenFile: token}}}}
"
    )
}

fn document(server: &str, authority: &str, user: &str, secret: &str) -> String {
    let authority = BASE64_STANDARD.encode(authority);
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: watchtap-test
  cluster:
    server: {server}
    certificate-authority-data: {authority}
users:
- name: {user}
  user:
    {secret}
contexts:
- name: watchtap-test
  context:
    cluster: watchtap-test
    user: {user}
current-context: watchtap-test
"
    )
}
