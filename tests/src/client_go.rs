//! Reflectors of client-go, in the releases that behave differently.

use std::path::PathBuf;

use anyhow::Result;

use crate::binaries::required_version;
use crate::folders;
use crate::go_build::GoProgram;

/// A release of client-go, as a module file in `tests/cluster/go/reflector` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClientGo {
    /// The last that lists again when a server refuses it.
    V0_15,
    /// Asks for a resource version that is too large for ever.
    V0_18_0,
    /// The first minor that watches on after a refusal, with that mended.
    V0_18,
    /// Before streaming lists.
    V0_26,
    /// The newest that there is.
    V0_37,
}

impl ClientGo {
    /// The oldest first.
    pub const ALL: [Self; 5] = [Self::V0_15, Self::V0_18_0, Self::V0_18, Self::V0_26, Self::V0_37];

    /// Builds the program `reflector` with it, if this machine has not yet; that takes Go, and a minute or two.
    pub fn reflector(self) -> Result<PathBuf> {
        let folder = folders::go_sources().join("reflector");
        let module_file = self.module_file();
        let program = GoProgram {
            name: "reflector",
            folder: &folder,
            module_file,
            version: &required_version(&folder.join(module_file), "k8s.io/client-go")?,
            link_flags: "",
            first_build_takes: "one to three minutes",
        };
        program.build(&folders::cluster_cache())
    }

    /// As people name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V0_15 => "client-go 0.15",
            Self::V0_18_0 => "client-go 0.18.0",
            Self::V0_18 => "client-go 0.18",
            Self::V0_26 => "client-go 0.26",
            Self::V0_37 => "client-go 0.37",
        }
    }

    const fn module_file(self) -> &'static str {
        match self {
            Self::V0_15 => "v0.15.mod",
            Self::V0_18_0 => "v0.18.0.mod",
            Self::V0_18 => "v0.18.mod",
            Self::V0_26 => "v0.26.mod",
            Self::V0_37 => "v0.37.mod",
        }
    }
}
