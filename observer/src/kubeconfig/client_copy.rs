//! Makes the copy of the kubeconfig with which clients connect through the proxy.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::merged::Kubeconfig;
use super::pairs::Pair;
use super::section::{Entry, Section};

/// The listener of the proxy for a client, as the copy describes it.
#[derive(Clone, Copy, Debug)]
pub struct ClientEndpoint<'a> {
    /// The address of the listener.
    pub listener: SocketAddr,
    /// The field of the cluster that contains this address.
    pub via: Via,
    /// The CA of this run, which issued the listener's certificate, as PEM text.
    pub ca_pem: &'a str,
    /// The private client certificate that the listener admits. `None` unless the kubeconfig's user has a client certificate.
    pub client_certificate: Option<ClientCertificatePair<'a>>,
    /// The program that replaces the user's exec plugin. `None` if the user has no exec plugin.
    pub exec_plugin: Option<PluginInPlace<'a>>,
}

/// The field of a cluster in the copy that contains the proxy's address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Via {
    /// `server` is the proxy. The API server then gets the proxy's address as `Host`.
    #[default]
    Server,
    /// `server` stays unchanged, and `proxy-url` is the proxy: for gateways that route by host.
    ProxyUrl,
}

/// The program that replaces a user's exec plugin.
#[derive(Clone, Copy, Debug)]
pub struct PluginInPlace<'a> {
    /// Its absolute path.
    pub command: &'a str,
    /// Its arguments; the user's name is added as the last one.
    pub arguments: &'a [&'a str],
}

/// A private client certificate of this run, with its key.
#[derive(Clone, Copy)]
pub struct ClientCertificatePair<'a> {
    /// The certificate, as PEM text.
    pub certificate_pem: &'a str,
    /// Its private key, as PEM text.
    pub key_pem: &'a str,
}

/// A pair of cluster and user, and the listener to which its contexts lead in the copy.
#[derive(Clone, Copy, Debug)]
pub struct Way<'a> {
    /// The contexts, with their cluster and user.
    pub pair: &'a Pair,
    /// The listener that serves them.
    pub endpoint: ClientEndpoint<'a>,
}

/// The copy, and the user's files that clients must read together with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCopy {
    /// The contents of the copy, as JSON: every YAML parser accepts it, and its quoting is unambiguous.
    pub text: String,
    /// Absolute paths of the files with entries that are not in the copy, in the order of `KUBECONFIG`. These entries are users
    /// with an `auth-provider`. A client writes refreshed tokens to the file that contains the entry (kubernetes/client-go
    /// `tools/clientcmd/config.go`, `ModifyConfig`), so this must be the user's own file. In `KUBECONFIG`, the copy comes first.
    pub beside: Vec<PathBuf>,
}

impl std::fmt::Debug for ClientCertificatePair<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ClientCertificatePair").finish_non_exhaustive()
    }
}

impl Kubeconfig {
    /// Makes the copy, in which the contexts of each of `ways` lead to its listener. The copy is complete, and has absolute paths.
    ///
    /// The copy changes a cluster's address and CA, and a user's certificate and plugin. Fields about the connection to the API
    /// server are removed, because watchtap makes that connection: `insecure-skip-tls-verify`, and with [`Via::Server`] also
    /// `tls-server-name` and `proxy-url`. Everything else stays.
    ///
    /// Contexts and users keep their names. A cluster entry can lead to only one listener. If contexts with other listeners use the
    /// same entry, they get a changed copy of it under a new name. Contexts that are not in `ways` keep their meaning.
    pub fn client_copy(&self, ways: &[Way<'_>]) -> ClientCopy {
        let mut copy = self.clone();
        let led: BTreeSet<&str> = ways.iter().flat_map(|way| &way.pair.contexts).map(String::as_str).collect();
        let mut taken = self.named_by_others(&led, "cluster");
        for way in ways {
            copy.lead(way, &mut taken);
        }
        copy.exchange_credentials(ways, &self.named_by_others(&led, "user"), &led);
        let beside = copy.leave_to_their_files();
        ClientCopy { text: escape_line_ends_of_yaml(&format!("{:#}\n", copy.to_value())), beside }
    }

    /// The names of clusters or users that contexts outside `led` use.
    fn named_by_others(&self, led: &BTreeSet<&str>, field: &str) -> BTreeSet<String> {
        let others = self.entries(Section::Contexts).iter().filter(|context| !led.contains(context.name.as_str()));
        others.filter_map(|context| context.text(field)).map(str::to_owned).collect()
    }

    /// Changes the contexts of one pair so that they lead to its listener.
    fn lead(&mut self, way: &Way<'_>, taken: &mut BTreeSet<String>) {
        let (selected, endpoint) = (&way.pair.selected, &way.endpoint);
        let name = if taken.insert(selected.cluster.clone()) {
            selected.cluster.clone()
        } else {
            let user = selected.user.as_deref().unwrap_or("anonymous");
            let name = self.add_alike(Section::Clusters, &selected.cluster, &format!("{}/{user}", selected.cluster));
            self.name_in_contexts(&way.pair.contexts, "cluster", &name);
            taken.insert(name.clone());
            name
        };
        if let Some(cluster) = self.find_mut(Section::Clusters, &name).and_then(Entry::body_mut) {
            match endpoint.via {
                Via::Server => {
                    cluster.insert("server".to_owned(), Value::from(selected.upstream.client_server(endpoint.listener)));
                    cluster.shift_remove("tls-server-name");
                    cluster.shift_remove("proxy-url");
                }
                Via::ProxyUrl => {
                    cluster.insert("proxy-url".to_owned(), Value::from(format!("http://{}", endpoint.listener)));
                }
            }
            replace(cluster, "certificate-authority", Some(endpoint.ca_pem));
            cluster.shift_remove("insecure-skip-tls-verify");
        }
    }

    /// Replaces the users' certificates by those that the listeners admit, and their plugins by `watchtap credential`. Contexts
    /// that are not in `ways` keep the originals.
    fn exchange_credentials(&mut self, ways: &[Way<'_>], needed_by_others: &BTreeSet<String>, led: &BTreeSet<&str>) {
        let mut done = BTreeSet::new();
        for way in ways.iter().filter(|way| way.pair.selected.has_exchanged_credential()) {
            let Some(name) = way.pair.selected.user.as_ref().filter(|name| done.insert(name.as_str())) else { continue };
            if needed_by_others.contains(name) {
                let kept = self.add_alike(Section::Users, name, &format!("{name}/direct"));
                let others = self.entries(Section::Contexts).iter().filter(|context| context.text("user") == Some(name));
                let others = others.map(|context| context.name.clone()).filter(|context| !led.contains(context.as_str()));
                let others: Vec<String> = others.collect();
                self.name_in_contexts(&others, "user", &kept);
            }
            if let Some(user) = self.find_mut(Section::Users, name).and_then(Entry::body_mut) {
                if way.pair.selected.client_certificate.is_some() {
                    let pair = way.endpoint.client_certificate;
                    replace(user, "client-certificate", pair.map(|pair| pair.certificate_pem));
                    replace(user, "client-key", pair.map(|pair| pair.key_pem));
                }
                if let Some(plugin) = way.endpoint.exec_plugin {
                    plugin.stand_in(user, name);
                }
            }
        }
    }

    /// Adds a copy of the entry `name`, called `wanted` or similar, and returns its name.
    fn add_alike(&mut self, section: Section, name: &str, wanted: &str) -> String {
        let names: BTreeSet<&str> = self.entries(section).iter().map(|entry| entry.name.as_str()).collect();
        let mut fresh = wanted.to_owned();
        let mut number = 1;
        while names.contains(fresh.as_str()) {
            number += 1;
            fresh = format!("{wanted}/{number}");
        }
        let alike = self.find(section, name).map(|entry| entry.renamed(&fresh));
        self.entries_mut(section).extend(alike);
        fresh
    }

    fn name_in_contexts(&mut self, contexts: &[String], field: &str, name: &str) {
        let contexts: BTreeSet<&String> = contexts.iter().collect();
        let entries = self.entries_mut(Section::Contexts).iter_mut().filter(|context| contexts.contains(&context.name));
        for body in entries.filter_map(Entry::body_mut) {
            body.insert(field.to_owned(), Value::from(name));
        }
    }

    /// Removes users with an `auth-provider`, which writes to the user's file, and returns these files. Users from a pipe stay,
    /// because a pipe can be neither read twice nor written back to.
    fn leave_to_their_files(&mut self) -> Vec<PathBuf> {
        let mut theirs = BTreeSet::new();
        self.entries_mut(Section::Users).retain(|user| {
            let has_provider = user.body().is_some_and(|body| body.get("auth-provider").is_some_and(Value::is_object));
            // A user whose certificate was replaced stays too: if two files have the same entry, only the first one counts.
            let stays = !has_provider || user.text("client-certificate-data").is_some() || !user.location.file.is_file();
            if !stays {
                theirs.insert(user.location.file.clone());
            }
            stays
        });
        self.files().iter().filter(|file| theirs.contains(*file)).cloned().collect()
    }
}

impl PluginInPlace<'_> {
    /// Replaces the plugin of `user` with [`PluginInPlace`]. The other fields of `exec` also apply to it, such as the environment
    /// and `interactiveMode`.
    fn stand_in(&self, user: &mut Map<String, Value>, name: &str) {
        let Some(exec) = user.get_mut("exec").and_then(Value::as_object_mut) else { return };
        exec.insert("command".to_owned(), Value::from(self.command));
        exec.insert("args".to_owned(), self.arguments.iter().copied().chain([name]).collect());
    }
}

/// Puts `pem` into `NAME-data` and removes the field `NAME`, a file.
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

/// Escapes characters that JSON allows in strings, and that YAML treats as line ends or rejects (YAML 1.2.2 §5.1; libyaml and
/// goyaml alike). Outside of strings, JSON is ASCII and has none of them.
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
