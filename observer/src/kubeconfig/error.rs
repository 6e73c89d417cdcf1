//! The errors of reading a kubeconfig. Each message contains the location and, if there is one, the remedy.
//!
//! No message quotes a value of a user entry or a line of a file: it could be a token.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::forward_proxy::AddressError;

/// A location in a kubeconfig file, shown as `FILE: users[2].user.client-key`, or a flag instead of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The path of the file, or the flag.
    pub file: PathBuf,
    /// The field in it; indices count from zero within this file.
    pub field: String,
}

impl Location {
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

impl fmt::Display for Location {
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
    /// Neither `KUBECONFIG` nor a home directory names a file to read.
    #[error("no kubeconfig: neither KUBECONFIG nor HOME is set; set KUBECONFIG to the path of a kubeconfig")]
    NowhereToLook,
    /// None of the files exists.
    #[error("no kubeconfig: there is no {}; set KUBECONFIG to the path of one that exists", list(tried, " and no "))]
    NoFile {
        /// All paths tried.
        tried: Vec<PathBuf>,
    },
    /// A kubeconfig exists but cannot be read, for example because it is a folder, or for lack of permission.
    #[error("cannot read the kubeconfig {}: {source}; set KUBECONFIG to the path of a file that you may read", file.display())]
    Read {
        /// Its path.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A kubeconfig is too large.
    #[error(
        "{}: larger than {limit} bytes; write the context you need to a file of its own \
         (kubectl config view --minify --flatten) and set KUBECONFIG to that", file.display()
    )]
    TooLarge {
        /// Its path.
        file: PathBuf,
        /// The largest size that is read, in bytes.
        limit: u64,
    },
    /// A kubeconfig is neither UTF-8 nor UTF-16 with a byte order mark.
    #[error("{}: not text in UTF-8 or UTF-16; is this a kubeconfig?", file.display())]
    NotText {
        /// Its path.
        file: PathBuf,
    },
    /// A kubeconfig is not YAML.
    #[error("{}: not valid YAML: {what}", file.display())]
    Yaml {
        /// Its path.
        file: PathBuf,
        /// The parser's message, with line and column.
        what: String,
    },
    /// The file is YAML, but not a kubeconfig.
    #[error("{}: {what}; set KUBECONFIG to the path of a kubeconfig", file.display())]
    NotAKubeconfig {
        /// Its path.
        file: PathBuf,
        /// The reason, as part of the message.
        what: String,
    },
    /// A field holds a value of another type.
    #[error("{location}: {what}")]
    WrongType {
        /// The field.
        location: Location,
        /// The type found and the type expected, as part of the message.
        what: String,
    },
    /// The files exist, but they are empty.
    #[error("{}: empty; set KUBECONFIG to the path of a kubeconfig, or have your cluster's tool write one", list(files, ", "))]
    Empty {
        /// All files that exist.
        files: Vec<PathBuf>,
    },
    /// No file names a current context.
    #[error(
        "{}: no current-context; choose one with `kubectl config use-context NAME` (there {})",
        list(files, ", "),
        choices(contexts)
    )]
    NoCurrentContext {
        /// All files that exist.
        files: Vec<PathBuf>,
        /// The names of the existing contexts.
        contexts: Vec<String>,
    },
    /// The current context has no entry.
    #[error(
        "{location}: there is no context {name:?}; choose one with `kubectl config use-context NAME` (there {})",
        choices(contexts)
    )]
    UnknownContext {
        /// The field that names it.
        location: Location,
        /// The name of the missing context.
        name: String,
        /// The names of the existing contexts.
        contexts: Vec<String>,
    },
    /// A context names a cluster or user that has no entry.
    #[error("{location}: there is no {kind} {name:?} in the kubeconfig; add it, or name another")]
    UnknownEntry {
        /// The field that names it.
        location: Location,
        /// `cluster` or `user`.
        kind: &'static str,
        /// The name of the missing entry.
        name: String,
    },
    /// A required field is missing or empty.
    #[error("{location}: missing; {remedy}")]
    Missing {
        /// The field.
        location: Location,
        /// The instruction to the user, as part of the message.
        remedy: &'static str,
    },
    /// The address of the API server is invalid.
    #[error("{location}: {what}; write it as https://HOST:PORT")]
    Server {
        /// The field.
        location: Location,
        /// The reason.
        what: String,
    },
    /// The API server does not use TLS.
    #[error(
        "{location}: cluster {cluster:?} uses plain http, and watchtap forwards TLS connections only; use the API server's https \
         address"
    )]
    PlainHttp {
        /// The field.
        location: Location,
        /// The name of the cluster.
        cluster: String,
    },
    /// The address of the proxy in front of the API server is invalid.
    #[error("{location}: {source}")]
    ProxyUrl {
        /// The field.
        location: Location,
        /// The reason.
        source: AddressError,
    },
    /// A `-data` field is not base64.
    #[error("{location}: not base64; encode the PEM text with `base64 -w0 FILE`")]
    Base64 {
        /// The field.
        location: Location,
    },
    /// A file that the kubeconfig names cannot be read.
    #[error("{location}: cannot read {}: {source}; correct the path or its permissions", path.display())]
    UnreadableFile {
        /// The field.
        location: Location,
        /// The absolute path of that file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A field lacks the expected certificates or key.
    #[error("{location}: {what}; it must be PEM text")]
    Pem {
        /// The field.
        location: Location,
        /// The missing part, as part of the message.
        what: &'static str,
    },
    /// A relative path cannot be made absolute, because the directory's name is not Unicode.
    #[error("{location}: a relative path in a folder whose name is not UTF-8; use an absolute path")]
    FolderNotUnicode {
        /// The field.
        location: Location,
    },
}

fn list(files: &[PathBuf], between: &str) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(between)
}

/// Maximum number of names listed in a message.
const MAX_CHOICES: usize = 8;

fn choices(names: &[String]) -> String {
    let offered = names.iter().take(MAX_CHOICES).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(MAX_CHOICES) {
        _ if names.is_empty() => "are none".to_owned(),
        None | Some(0) => format!("are {offered}"),
        Some(more) => format!("are {offered} and {more} more"),
    }
}
