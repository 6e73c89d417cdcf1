//! The user's input files: kubeconfigs with every kind of credential, valid and invalid, and logs of servers.

use std::net::SocketAddr;
use std::path::PathBuf;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use observer_tests::canary::{Canary, Places};
use rcgen::{CertificateParams, KeyPair};

use super::secrets::secret;

/// The files, and the secrets generated for this run.
pub(super) struct Given {
    pub(super) folder: PathBuf,
    /// Canaries for the private key of a client certificate.
    pub(super) keys: Vec<Canary>,
}

impl Given {
    /// Writes all kubeconfigs: for a direct connection to `server`, and for one through `proxy`. Also an audit log.
    pub(super) fn to(places: &Places, server: SocketAddr, authority: &str, proxy: SocketAddr) -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::default().self_signed(&key).unwrap().pem();
        let [certificate, key_data] = [certificate, key.serialize_pem()].map(|pem| BASE64_STANDARD.encode(pem));
        let token_file = places.give("token", secret("token file")).unwrap();
        let folder = token_file.parent().unwrap().to_owned();
        let trust = format!("certificate-authority-data: {}", BASE64_STANDARD.encode(authority));
        let cluster = format!("server: 'https://{server}', {trust}");
        let users = [
            ("token", format!("token: {}", secret("kubeconfig token"))),
            ("plugin", format!("exec: {}", plugin(&folder))),
            ("token-file", format!("tokenFile: '{}'", token_file.display())),
            ("certificate", format!("client-certificate-data: {certificate}, client-key-data: {key_data}")),
            ("basic", format!("username: {}, password: {}", secret("basic user"), secret("basic password"))),
        ];
        let token = [users[0].clone()];
        places.give("kubeconfig", kubeconfig(&cluster, &users)).unwrap();
        let password = secret("kubeconfig proxy password");
        let behind = format!("server: 'https://api.invalid:6443', {trust}, proxy-url: 'http://u:{password}@{proxy}'");
        places.give("behind-proxy", kubeconfig(&behind, &token)).unwrap();
        // The environment names the proxy.
        let far = format!("server: 'https://api.invalid:6443', {trust}, tls-server-name: 127.0.0.1");
        places.give("far", kubeconfig(&far, &token)).unwrap();
        let bad = format!("{cluster}, proxy-url: 'ftp://u:{password}@{proxy}'");
        places.give("bad-proxy", kubeconfig(&bad, &token)).unwrap();
        let bad = format!("server: 'https://u:{}@{server}', {trust}", secret("kubeconfig server password"));
        places.give("password-in-server", kubeconfig(&bad, &token)).unwrap();
        let other = format!("token: {{x: {}}}", secret("kubeconfig token of another type"));
        places.give("token-of-another-type", kubeconfig(&cluster, &[("token", other)])).unwrap();
        let broken = format!("client-certificate-data: {certificate}, client-key-data: '!{key_data}'");
        places.give("bad-key", kubeconfig(&cluster, &[("certificate", broken)])).unwrap();
        let whole = kubeconfig(&cluster, &token);
        places.give("broken", whole.replace("token: ", "token: ]: {")).unwrap();
        let audit = secret("audit log");
        let event = format!(
            r#"{{"level":"Metadata","auditID":"a","stage":"ResponseComplete","verb":"create","requestURI":"/api/v1/pods?token={audit}","user":{{"username":"u","extra":{{"x":["{audit}"]}}}},"objectRef":{{"resource":"pods"}},"responseStatus":{{"code":201,"message":"{audit}"}},"requestObject":"{audit}","stageTimestamp":"2026-11-22T02:00:00Z"}}"#
        );
        places.give("audit.log", format!("{event}\n")).unwrap();
        Self { folder, keys: key_canaries("the client key", &key) }
    }
}

pub(super) mod give {
    use super::{BASE64_STANDARD, Engine, Places, SocketAddr, kubeconfig, plugin, secret};

    /// The files that `verify` needs: a server that can be verified, and the log of its etcd.
    pub(in crate::canary) fn verified(places: &Places, server: SocketAddr, authority: &str) {
        let cluster = format!("server: 'https://{server}', certificate-authority-data: {}", BASE64_STANDARD.encode(authority));
        let token_file = places.give("token", secret("token file")).unwrap();
        let token = format!("token: {}", secret("kubeconfig token"));
        let plugin = format!("exec: {}", plugin(token_file.parent().unwrap()));
        for (name, user) in [("verified", token), ("verified-by-plugin", plugin)] {
            places.give(name, kubeconfig(&cluster, &[(name, user)])).unwrap();
        }
        places.give("etcd.log", format!("{{\"msg\":\"{}\"}}\n", secret("etcd log"))).unwrap();
    }
}

/// The recognisable parts of a private key: a complete line of its PEM text, and the number itself (RFC 5915 §3, within PKCS #8).
pub(super) fn key_canaries(name: &str, key: &KeyPair) -> Vec<Canary> {
    let pem = key.serialize_pem();
    let der = key.serialize_der();
    let number = der.windows(34).find(|window| window.starts_with(&[4, 32])).unwrap();
    let line = pem.lines().nth(2).unwrap();
    vec![Canary::new(&format!("line of {name}"), line), Canary::new(&format!("number of {name}"), &number[2..])]
}

/// A plugin that prints a token, and records its caller's command line and its own environment.
fn plugin(folder: &std::path::Path) -> String {
    let credential = format!(
        r#"{{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{{"token":"{}"}}}}"#,
        secret("plugin token")
    );
    let folder = folder.display();
    let script = format!(
        "tr '\\0' ' ' </proc/$PPID/cmdline >>'{folder}/helpers'; cat /proc/$$/environ >'{folder}/environment'; echo '{credential}'"
    );
    serde_json::json!({
        "apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "interactiveMode": "Never",
        "args": ["-c", script, secret("kubeconfig plugin argument")],
        "env": [{"name": "OF_THE_PLUG_IN", "value": secret("kubeconfig plugin environment")}],
    })
    .to_string()
}

/// A kubeconfig with one cluster and a context for each user; the first is current.
fn kubeconfig(cluster: &str, users: &[(&str, String)]) -> String {
    let each = |line: &dyn Fn(&str, &str) -> String| users.iter().map(|(name, user)| line(name, user)).collect::<Vec<_>>().concat();
    let of_users = each(&|name, user| format!("- {{name: {name}, user: {{{user}}}}}\n"));
    let of_contexts = each(&|name, _user| format!("- {{name: {name}, context: {{cluster: one, user: {name}}}}}\n"));
    let (current, _) = users[0];
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: {current}\nclusters:\n- {{name: one, cluster: {{{cluster}}}}}\n\
         users:\n{of_users}contexts:\n{of_contexts}"
    )
}
