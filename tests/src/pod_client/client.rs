//! The client libraries that have a program for pods.

use std::fmt;
use std::io::{Write as _, stdout};

use anyhow::Result;

use super::root::{Missing, PodRoot};
use super::{go, java, javascript, kube_rs, python};

/// A client library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PodClient {
    /// client-go: `rest.InClusterConfig` and a shared informer. It begins with a streaming list.
    ClientGo,
    /// The official Python client: `load_incluster_config`, and a loop of list and watch.
    Python,
    /// kube-rs: `Config::incluster`, and a reflector.
    KubeRs,
    /// The official Java client: `ClientBuilder.cluster()` and a shared informer.
    Java,
    /// The official JavaScript client: `loadFromCluster` and an informer.
    JavaScript,
}

impl PodClient {
    /// All libraries.
    pub const ALL: [Self; 5] = [Self::ClientGo, Self::Python, Self::KubeRs, Self::Java, Self::JavaScript];

    /// The name of the object whose events make a client print its store. If the client receives an event by a relist, its store may
    /// be incomplete at this time. The next event is later than the relist.
    pub const PRINT_STORE: &str = "print-store";

    /// A name for images and user agents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClientGo => "client-go",
            Self::Python => "python",
            Self::KubeRs => "kube-rs",
            Self::Java => "java",
            Self::JavaScript => "javascript",
        }
    }

    /// The root filesystem of its program, which is built once per machine. `None`, with a message, if a program is missing that
    /// builds it.
    pub fn root(self) -> Result<Option<PodRoot>> {
        let root = match self {
            Self::ClientGo => go::root(),
            Self::Python => python::root(),
            Self::KubeRs => kube_rs::root(),
            Self::Java => java::root(),
            Self::JavaScript => javascript::root(),
        };
        match root {
            Ok(root) => Ok(Some(root)),
            Err(error) => match error.downcast::<Missing>() {
                Ok(Missing(program)) => {
                    writeln!(stdout().lock(), "left out: the {self} client needs `{program}`, which is not on the PATH")?;
                    Ok(None)
                }
                Err(error) => Err(error.context(format!("cannot make the root filesystem of the {self} client"))),
            },
        }
    }
}

impl fmt::Display for PodClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
