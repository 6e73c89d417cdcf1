//! Determines the paths of the kubeconfig files.
//!
//! The rules are those of `NewDefaultClientConfigLoadingRules` (kubernetes/client-go `tools/clientcmd/loader.go`, v0.34).

use std::ffi::OsString;
use std::path::PathBuf;

use super::error::Error;

/// The variables and directories that determine these paths. The caller reads them from its process; tests choose them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// The value of `KUBECONFIG`: paths separated by colons. Unset and empty mean the same.
    pub kubeconfig: Option<OsString>,
    /// The home directory, which holds `.kube/config`.
    pub home: Option<PathBuf>,
    /// The base of relative paths in `KUBECONFIG`; absolute.
    pub working_directory: PathBuf,
}

impl Environment {
    /// The files to read, most important first, each once and absolute. They may not exist.
    pub(super) fn paths(&self) -> Result<Vec<PathBuf>, Error> {
        let Some(named) = self.kubeconfig.as_ref().filter(|value| !value.is_empty()) else {
            let home = self.home.as_ref().ok_or(Error::NowhereToLook)?;
            return Ok(vec![self.working_directory.join(home).join(".kube").join("config")]);
        };
        let mut paths = Vec::new();
        for path in std::env::split_paths(named).filter(|path| !path.as_os_str().is_empty()) {
            let absolute = self.working_directory.join(path);
            if !paths.contains(&absolute) {
                paths.push(absolute);
            }
        }
        if paths.is_empty() { Err(Error::NowhereToLook) } else { Ok(paths) }
    }
}
