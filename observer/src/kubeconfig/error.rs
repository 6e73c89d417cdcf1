//! What can be wrong with a kubeconfig: each error names the place and, where there is one, the remedy.
//!
//! No message repeats a value of a user entry, and none a line of a file: it could be a token.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::forward_proxy::AddressError;

/// A place in a kubeconfig file, shown as `FILE: users[2].user.client-key`, or a flag that stands for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The field in it; indices count from zero within this file.
    pub field: String,
}

impl Place {
    pub(super) fn new(file: &Path, field: impl Into<String>) -> Self {
        Self { file: file.to_owned(), field: field.into() }
    }

    pub(super) fn child(&self, name: &str) -> Self {
        if self.field.is_empty() {
            return Self::new(&self.file, name);
        }
        Self::new(&self.file, format!("{}.{name}", self.field))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            return write!(formatter, "{}", self.file.display());
        }
        write!(formatter, "{}: {}", self.file.display(), self.field)
    }
}

/// Why a kubeconfig cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// Neither `KUBECONFIG` nor a home folder says where to look.
    #[error("no kubeconfig: neither KUBECONFIG nor HOME names a place to look in; set KUBECONFIG to the path of a kubeconfig")]
    NowhereToLook,
    /// None of the files exists.
    #[error("no kubeconfig: there is no {}; set KUBECONFIG to the path of one that exists", list(looked_at, " and no "))]
    NoFile {
        /// All paths that were tried.
        looked_at: Vec<PathBuf>,
    },
    /// A kubeconfig exists and cannot be read: a folder, no permission.
    #[error("cannot read the kubeconfig {}: {source}; set KUBECONFIG to the path of a file that you may read", file.display())]
    Read {
        /// The kubeconfig.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A kubeconfig is larger than is read.
    #[error(
        "{}: larger than {limit} bytes; write the context you need to a file of its own \
         (kubectl config view --minify --flatten) and set KUBECONFIG to that", file.display()
    )]
    TooLarge {
        /// The kubeconfig.
        file: PathBuf,
        /// Most bytes that are read.
        limit: u64,
    },
    /// A kubeconfig is neither UTF-8 nor UTF-16 with a byte order mark.
    #[error("{}: not text in UTF-8 or UTF-16; is this a kubeconfig?", file.display())]
    NotText {
        /// The kubeconfig.
        file: PathBuf,
    },
    /// A kubeconfig is not YAML.
    #[error("{}: not valid YAML: {what}", file.display())]
    Yaml {
        /// The kubeconfig.
        file: PathBuf,
        /// What the parser says, with line and column.
        what: String,
    },
    /// The YAML is that of something else.
    #[error("{}: {what}; set KUBECONFIG to the path of a kubeconfig", file.display())]
    NotAKubeconfig {
        /// The file.
        file: PathBuf,
        /// By what it shows.
        what: String,
    },
    /// A field holds a value of another type.
    #[error("{place}: {what}")]
    WrongType {
        /// The field.
        place: Place,
        /// What was found and what is expected.
        what: String,
    },
    /// The files that exist have nothing in them.
    #[error("{}: empty; set KUBECONFIG to the path of a kubeconfig, or have your cluster's tool write one", list(files, ", "))]
    Empty {
        /// The files.
        files: Vec<PathBuf>,
    },
    /// No file says which context is the current one.
    #[error(
        "{}: no current-context; choose one with `kubectl config use-context NAME` (there {})",
        list(files, ", "),
        choices(contexts)
    )]
    NoCurrentContext {
        /// The files.
        files: Vec<PathBuf>,
        /// The names of the contexts that there are.
        contexts: Vec<String>,
    },
    /// The current context has no entry.
    #[error(
        "{place}: there is no context {name:?}; choose one with `kubectl config use-context NAME` (there {})",
        choices(contexts)
    )]
    UnknownContext {
        /// Where it is named.
        place: Place,
        /// Its name.
        name: String,
        /// The names of the contexts that there are.
        contexts: Vec<String>,
    },
    /// A context names a cluster or user that has no entry.
    #[error("{place}: there is no {kind} {name:?} in the kubeconfig; add it, or name another")]
    UnknownEntry {
        /// Where it is named.
        place: Place,
        /// `cluster` or `user`.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// A field that is needed is missing or empty.
    #[error("{place}: missing; {remedy}")]
    Missing {
        /// The field.
        place: Place,
        /// What to write there.
        remedy: &'static str,
    },
    /// The address of the API server cannot be understood.
    #[error("{place}: {what}; write it as https://HOST:PORT")]
    Server {
        /// The field.
        place: Place,
        /// What is wrong with it.
        what: String,
    },
    /// The API server is not reached through TLS.
    #[error(
        "{place}: cluster {cluster:?} is reached by plain http, and watchtap passes on TLS connections only; \
         use the API server's https address"
    )]
    PlainHttp {
        /// The field.
        place: Place,
        /// The name of the cluster.
        cluster: String,
    },
    /// The address of the proxy in front of the API server cannot be understood.
    #[error("{place}: {source}")]
    ProxyUrl {
        /// The field.
        place: Place,
        /// What is wrong with it.
        source: AddressError,
    },
    /// A `-data` field is not base64.
    #[error("{place}: not base64; put the PEM text there as `base64 -w0 FILE` prints it")]
    Base64 {
        /// The field.
        place: Place,
    },
    /// A file that the kubeconfig names cannot be read.
    #[error("{place}: cannot read {}: {source}; correct the path, or what stands in its way", path.display())]
    UnreadableFile {
        /// The field.
        place: Place,
        /// The file that it names, absolute.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Certificates or a key are expected and not there.
    #[error("{place}: {what}; it takes PEM text")]
    Pem {
        /// The field.
        place: Place,
        /// What is missing.
        what: &'static str,
    },
    /// A relative path cannot be made absolute, because the folder's name is not Unicode.
    #[error("{place}: a relative path in a folder whose name is not UTF-8; write the path in full")]
    FolderNotUnicode {
        /// The field.
        place: Place,
    },
}

fn list(files: &[PathBuf], between: &str) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(between)
}

/// At most this many names are offered.
const MAX_CHOICES: usize = 8;

fn choices(names: &[String]) -> String {
    let offered = names.iter().take(MAX_CHOICES).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(MAX_CHOICES) {
        _ if names.is_empty() => "are none".to_owned(),
        None | Some(0) => format!("are {offered}"),
        Some(more) => format!("are {offered} and {more} more"),
    }
}
