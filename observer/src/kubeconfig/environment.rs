//! Where kubeconfigs are looked for.
//!
//! Decided as by `NewDefaultClientConfigLoadingRules` (kubernetes/client-go `tools/clientcmd/loader.go`, v0.34).

use std::ffi::OsString;
use std::path::PathBuf;

use super::error::Error;

/// What the search for kubeconfigs depends on. The caller reads it from its process, or makes it up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// The value of `KUBECONFIG`: paths, with colons between them. Unset and empty mean the same.
    pub kubeconfig: Option<OsString>,
    /// The home folder, which holds `.kube/config`.
    pub home: Option<PathBuf>,
    /// What relative paths in `KUBECONFIG` start from; absolute.
    pub working_directory: PathBuf,
}

impl Environment {
    /// The files to read, the most important first, each once and absolute. Whether they exist is not looked at.
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
