//! What this machine has that some tests need.

use std::path::{Path, PathBuf};

/// The programs at hand.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) go: bool,
    pub(crate) kubectl: bool,
    pub(crate) assets: Assets,
}

/// What the folder named by `KUBEBUILDER_ASSETS` holds; the name and the convention are controller-runtime's (`pkg/envtest/server.go`).
#[derive(Debug)]
pub(crate) enum Assets {
    Unset,
    Complete,
    Lacks { folder: PathBuf, program: &'static str },
}

impl Machine {
    pub(crate) fn here() -> Self {
        Self { go: is_on_path("go"), kubectl: is_on_path("kubectl"), assets: Assets::here() }
    }

    /// Why no API server can be started here: it is built with Go, or comes ready-made.
    pub(crate) fn no_api_server(&self) -> Option<String> {
        if self.go {
            return None;
        }
        match &self.assets {
            Assets::Complete => None,
            Assets::Unset => Some(String::from("go is not on PATH, and KUBEBUILDER_ASSETS is not set")),
            Assets::Lacks { folder, program } => {
                Some(format!("go is not on PATH, and KUBEBUILDER_ASSETS={} holds no {program}", folder.display()))
            }
        }
    }

    /// Why clients of old releases of client-go cannot be had here.
    pub(crate) fn no_go(&self) -> Option<String> {
        (!self.go).then(|| String::from("go is not on PATH, and the clients of many ages are built with it"))
    }

    pub(crate) fn no_kubectl(&self) -> Option<String> {
        (!self.kubectl).then(|| String::from("kubectl is not on PATH"))
    }
}

impl Assets {
    fn here() -> Self {
        std::env::var_os("KUBEBUILDER_ASSETS").map_or(Self::Unset, |folder| Self::of(Path::new(&folder)))
    }

    fn of(folder: &Path) -> Self {
        let lacking = ["kube-apiserver", "etcd"].into_iter().find(|program| !folder.join(program).is_file());
        lacking.map_or(Self::Complete, |program| Self::Lacks { folder: folder.to_path_buf(), program })
    }
}

fn is_on_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_made_servers_stand_in_for_go() {
        let machine = Machine { go: false, kubectl: false, assets: Assets::Complete };
        assert_eq!(machine.no_api_server(), None);
    }

    #[test]
    fn incomplete_folder_is_named_with_what_it_lacks() {
        let assets = Assets::of(Path::new("no/such/folder"));
        let machine = Machine { go: false, kubectl: false, assets };
        let reason = "go is not on PATH, and KUBEBUILDER_ASSETS=no/such/folder holds no kube-apiserver";
        assert_eq!(machine.no_api_server().as_deref(), Some(reason));
    }
}
