//! The kubeconfig that leads a client through the tap.

use std::net::SocketAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::merged::Kubeconfig;
use super::section::Section;
use super::selected::Selected;

/// What a client finds at our end.
#[derive(Clone, Copy, Debug)]
pub struct ClientEndpoint<'a> {
    /// Where the tap listens.
    pub listener: SocketAddr,
    /// The CA of this run, as PEM text.
    pub ca_pem: &'a str,
    /// The certificate that the tap admits; only where the kubeconfig's user has a client certificate of its own.
    pub client_certificate: Option<ClientCertificatePair<'a>>,
}

/// The private client certificate of this run.
#[derive(Clone, Copy)]
pub struct ClientCertificatePair<'a> {
    /// The certificate, as PEM text.
    pub certificate_pem: &'a str,
    /// Its private key, as PEM text.
    pub key_pem: &'a str,
}

impl std::fmt::Debug for ClientCertificatePair<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ClientCertificatePair").finish_non_exhaustive()
    }
}

impl Kubeconfig {
    /// The kubeconfig with its current context leading to `endpoint`, complete and with absolute paths, as text for a file.
    ///
    /// Changed are the server, the CA and the user's certificate. What concerns the connection that the tap makes now
    /// (`insecure-skip-tls-verify`, `tls-server-name`, `proxy-url`) is gone; all else stays, other contexts too. No name is
    /// added: the entries that the current context names are edited, so a context that shares them is led here as well.
    ///
    /// The text is JSON, which is YAML to every reader and leaves no question of quoting.
    pub fn client_copy(&self, selected: &Selected, endpoint: &ClientEndpoint<'_>) -> String {
        let mut copy = self.clone();
        if let Some(cluster) = copy.find_mut(Section::Clusters, &selected.cluster).and_then(|entry| entry.body_mut()) {
            let server = format!("https://{}{}", endpoint.listener, selected.upstream.path_prefix);
            cluster.insert("server".to_owned(), Value::from(server));
            replace(cluster, "certificate-authority", Some(endpoint.ca_pem));
            for gone in ["insecure-skip-tls-verify", "tls-server-name", "proxy-url"] {
                cluster.shift_remove(gone);
            }
        }
        if selected.client_certificate.is_some()
            && let Some(name) = &selected.user
            && let Some(user) = copy.find_mut(Section::Users, name).and_then(|entry| entry.body_mut())
        {
            let pair = endpoint.client_certificate;
            replace(user, "client-certificate", pair.map(|pair| pair.certificate_pem));
            replace(user, "client-key", pair.map(|pair| pair.key_pem));
        }
        escape_line_ends_of_yaml(&format!("{:#}\n", copy.to_value()))
    }
}

/// Puts `pem` into `NAME-data` and takes the file `NAME` away.
fn replace(fields: &mut Map<String, Value>, name: &str, pem: Option<&str>) {
    fields.shift_remove(name);
    let data_field = format!("{name}-data");
    match pem {
        Some(pem) => {
            fields.insert(data_field, Value::from(STANDARD.encode(pem)));
        }
        None => {
            fields.shift_remove(&data_field);
        }
    }
}

/// JSON allows in strings what YAML takes as the end of a line or refuses (YAML 1.2.2 §5.1; libyaml and goyaml alike). Outside
/// of strings JSON is ASCII without these.
fn escape_line_ends_of_yaml(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let escape = format!("\\u{:04x}", u32::from(character));
                text.push_str(&escape);
            }
            other => text.push(other),
        }
    }
    text
}
