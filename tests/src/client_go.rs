//! client-go reflectors, in the releases that behave differently.

use std::path::PathBuf;

use anyhow::Result;

use crate::binaries::required_in;
use crate::folders;
use crate::go_build::GoProgram;

/// A file in `tests/cluster/go/reflector`.
macro_rules! module_file {
    ($name:literal) => {
        ModuleFile { name: $name, text: include_str!(concat!("../cluster/go/reflector/", $name)) }
    };
}

/// A release of client-go, as a module file in `tests/cluster/go/reflector` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClientGo {
    /// The last minor that relists after a refused connection.
    V0_15,
    /// Repeats a list with a resource version that is too large, without end.
    V0_18_0,
    /// The first minor that keeps watching after a refused connection, with that bug fixed.
    V0_18,
    /// A release without streaming lists.
    V0_26,
    /// The newest release.
    V0_37,
}

impl ClientGo {
    /// All releases, oldest first.
    pub const ALL: [Self; 5] = [Self::V0_15, Self::V0_18_0, Self::V0_18, Self::V0_26, Self::V0_37];

    /// Builds the program `reflector` with this release unless this machine has it. It needs Go and takes a minute or two.
    pub fn reflector(self) -> Result<PathBuf> {
        let ModuleFile { name, .. } = self.module_file();
        let program = GoProgram {
            name: "reflector",
            folder: &folders::go_sources().join("reflector"),
            module_file: name,
            version: self.version(),
            link_flags: "",
            first_build_takes: "one to three minutes",
        };
        program.build(&folders::cluster_cache())
    }

    /// Display name, as in `client-go 0.26.15`.
    pub fn name(self) -> String {
        format!("client-go {}", self.version().trim_start_matches('v'))
    }

    /// The client-go version that its module file requires.
    #[expect(clippy::expect_used, reason = "the file is of this repository and within the program; a test reads each")]
    fn version(self) -> &'static str {
        required_in(self.module_file().text, "k8s.io/client-go").expect("a module file of reflectors requires client-go")
    }

    const fn module_file(self) -> ModuleFile {
        match self {
            Self::V0_15 => module_file!("v0.15.mod"),
            Self::V0_18_0 => module_file!("v0.18.0.mod"),
            Self::V0_18 => module_file!("v0.18.mod"),
            Self::V0_26 => module_file!("v0.26.mod"),
            Self::V0_37 => module_file!("v0.37.mod"),
        }
    }
}

/// The module file that a reflector is built with.
struct ModuleFile {
    name: &'static str,
    text: &'static str,
}

#[cfg(test)]
mod tests {
    use super::ClientGo;

    #[test]
    fn every_release_has_a_full_version_matching_its_module_file() {
        for release in ClientGo::ALL {
            let name = release.name();
            let version = name.strip_prefix("client-go ").unwrap();
            assert!(version.split('.').filter(|number| number.parse::<u32>().is_ok()).count() == 3, "{name}");
            let file = release.module_file().name.trim_start_matches('v').trim_end_matches("mod");
            assert!(format!("{version}.").starts_with(file), "{name} is built by {file}mod");
        }
    }
}
