//! Merges all kubeconfig files into one tree.
//!
//! The merge follows client-go's `ClientConfigLoadingRules.Load`. The first file that has a cluster, user, context or other value
//! determines all of it; parts of later files are not added. Files that do not exist are skipped.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::document;
use super::environment::Environment;
use super::error::{Error, Location};
use super::paths;
use super::section::{Entry, Section, wrong_type};

/// The merged kubeconfig: everything that was read, including unknown fields, with absolute paths.
///
/// It holds credentials; its `Debug` output shows names only.
#[derive(Clone, Default)]
pub struct Kubeconfig {
    files: Vec<PathBuf>,
    clusters: Vec<Entry>,
    users: Vec<Entry>,
    contexts: Vec<Entry>,
    current_context: Option<(String, Location)>,
    /// Every top-level value, in order. The lists of clusters, users and contexts are empty here, and only mark their positions.
    top_level: Map<String, Value>,
}

/// How to verify the certificate of an API server that no kubeconfig describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTrust {
    /// The system's trust store verifies it.
    SystemRoots,
    /// The CAs in this file verify it; the path is absolute.
    Authority(PathBuf),
    /// The certificate is not verified.
    Anybody,
}

/// The name of the only context and of the only cluster of [`Kubeconfig::of_server`].
const SERVER_NAME: &str = "watchtap";

impl Kubeconfig {
    /// Reads and merges the files that `environment` names.
    pub fn load(environment: &Environment) -> Result<Self, Error> {
        let tried = environment.paths()?;
        let mut merged = Self::default();
        for file in &tried {
            let Some(documents) = document::read(file)? else { continue };
            merged.files.push(file.clone());
            for document in documents {
                merged.absorb(file, document)?;
            }
        }
        if merged.files.is_empty() { Err(Error::NoFile { tried }) } else { Ok(merged) }
    }

    /// The same kubeconfig with another current context, which the flag `flag` names.
    #[must_use]
    pub fn with_current_context(mut self, name: &str, flag: &str) -> Self {
        self.current_context = Some((name.to_owned(), Location::new(Path::new(flag), "")));
        self
    }

    /// A kubeconfig with one context, which leads to `server` without a user. Errors name `flag` as its origin.
    pub fn of_server(server: &str, trust: &ServerTrust, flag: &str) -> Result<Self, Error> {
        let mut cluster = Map::from_iter([("server".to_owned(), Value::from(server))]);
        match trust {
            ServerTrust::SystemRoots => {}
            ServerTrust::Authority(file) => {
                let location = Location::new(Path::new(flag), "certificate-authority");
                let file = file.to_str().ok_or(Error::FolderNotUnicode { location })?;
                cluster.insert("certificate-authority".to_owned(), Value::from(file));
            }
            ServerTrust::Anybody => {
                cluster.insert("insecure-skip-tls-verify".to_owned(), Value::from(true));
            }
        }
        let document = serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": SERVER_NAME, "cluster": cluster}],
            "contexts": [{"name": SERVER_NAME, "context": {"cluster": SERVER_NAME}}],
            "current-context": SERVER_NAME,
        });
        let mut kubeconfig = Self::default();
        if let Value::Object(document) = document {
            kubeconfig.absorb(Path::new(flag), document)?;
        }
        for cluster in &mut kubeconfig.clusters {
            cluster.location.field.clear();
        }
        Ok(kubeconfig)
    }

    /// The files that were read, most important first.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The name of the current context, and the location that names it.
    pub(super) fn current_context(&self) -> Result<(&str, &Location), Error> {
        match &self.current_context {
            Some((name, location)) => Ok((name, location)),
            None if self.top_level.is_empty() => Err(Error::Empty { files: self.files.clone() }),
            None => Err(Error::NoCurrentContext { files: self.files.clone(), contexts: self.context_names() }),
        }
    }

    pub(super) fn context_names(&self) -> Vec<String> {
        self.contexts.iter().map(|context| context.name.clone()).collect()
    }

    pub(super) fn find(&self, section: Section, name: &str) -> Option<&Entry> {
        self.entries(section).iter().find(|entry| entry.name == name)
    }

    pub(super) fn find_mut(&mut self, section: Section, name: &str) -> Option<&mut Entry> {
        self.entries_mut(section).iter_mut().find(|entry| entry.name == name)
    }

    /// The merged kubeconfig as one tree again.
    pub(super) fn to_value(&self) -> Value {
        let mut tree = self.top_level.clone();
        for section in Section::ALL {
            if let Some(list) = tree.get_mut(section.list_key()) {
                *list = self.entries(section).iter().map(Entry::to_value).collect();
            }
        }
        if let Some((name, _)) = &self.current_context {
            tree.insert("current-context".to_owned(), Value::from(name.as_str()));
        }
        Value::Object(tree)
    }

    pub(super) fn entries(&self, section: Section) -> &[Entry] {
        match section {
            Section::Clusters => &self.clusters,
            Section::Users => &self.users,
            Section::Contexts => &self.contexts,
        }
    }

    pub(super) fn entries_mut(&mut self, section: Section) -> &mut Vec<Entry> {
        match section {
            Section::Clusters => &mut self.clusters,
            Section::Users => &mut self.users,
            Section::Contexts => &mut self.contexts,
        }
    }

    fn absorb(&mut self, file: &Path, document: Map<String, Value>) -> Result<(), Error> {
        for (key, value) in document {
            if let Some(section) = Section::ALL.into_iter().find(|section| section.list_key() == key) {
                self.top_level.entry(key).or_insert(Value::Null);
                self.absorb_entries(section, file, value)?;
            } else if key == "current-context" {
                self.absorb_current_context(file, value)?;
            } else {
                absorb_other(&mut self.top_level, key, value);
            }
        }
        Ok(())
    }

    /// Adds the entries of one list. An entry whose name occurs twice in one file stays in the copy, so that the client reacts to
    /// it as without watchtap. watchtap itself uses the first one.
    fn absorb_entries(&mut self, section: Section, file: &Path, list: Value) -> Result<(), Error> {
        let mut fresh = section.entries(file, list)?;
        for entry in &mut fresh {
            paths::make_absolute(section, entry)?;
        }
        let known = self.entries_mut(section);
        fresh.retain(|entry| known.iter().all(|earlier| earlier.name != entry.name));
        known.append(&mut fresh);
        Ok(())
    }

    fn absorb_current_context(&mut self, file: &Path, value: Value) -> Result<(), Error> {
        let location = Location::new(file, "current-context");
        match value {
            Value::Null => {}
            Value::String(name) => {
                self.top_level.entry("current-context").or_insert(Value::from(""));
                if !name.is_empty() && self.current_context.is_none() {
                    self.current_context = Some((name, location));
                }
            }
            other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                return Err(wrong_type(location, "a string", &other));
            }
        }
        Ok(())
    }
}

/// Merges `preferences` value by value, and lists of `extensions` name by name. Otherwise the first file's complete value counts.
fn absorb_other(into: &mut Map<String, Value>, key: String, value: Value) {
    match (into.get_mut(&key), value) {
        (None | Some(Value::Null), value) => {
            into.insert(key, value);
        }
        (Some(Value::Object(earlier)), Value::Object(later)) => {
            for (key, value) in later {
                absorb_other(earlier, key, value);
            }
        }
        (Some(Value::Array(earlier)), Value::Array(later)) if key == "extensions" => {
            let known = |name: Option<&Value>, list: &[Value]| list.iter().any(|extension| extension.get("name") == name);
            let fresh: Vec<_> = later.into_iter().filter(|extension| !known(extension.get("name"), earlier)).collect();
            earlier.extend(fresh);
        }
        (Some(_), _) => {}
    }
}

impl fmt::Debug for Kubeconfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Kubeconfig")
            .field("files", &self.files)
            .field("current_context", &self.current_context.as_ref().map(|(name, _)| name))
            .field("contexts", &self.context_names())
            .finish_non_exhaustive()
    }
}
