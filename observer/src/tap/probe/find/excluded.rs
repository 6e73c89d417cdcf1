//! Files that the options exclude from probing.

use std::path::Path;

use super::program_file::{DELETED, FileIdentity, ProgramFile};
use crate::tap::probe::error::OptionsError;

/// Excluded files, by path and by base name.
#[derive(Clone, Debug, Default)]
pub(in crate::tap::probe) struct ExcludedFiles {
    names: Vec<String>,
    /// Identities of the paths that exist on this machine, since files may have other names as well.
    identities: Vec<FileIdentity>,
}

impl ExcludedFiles {
    /// Takes absolute paths and base names.
    pub(in crate::tap::probe) fn of(given: &[String]) -> Result<Self, OptionsError> {
        let is_name = |name: &&String| !name.starts_with('/') && (name.is_empty() || name.contains('/'));
        if let Some(wrong) = given.iter().find(is_name) {
            return Err(OptionsError::NoFile(wrong.clone()));
        }
        let paths = given.iter().filter(|name| name.starts_with('/'));
        Ok(Self { names: given.to_vec(), identities: paths.filter_map(|path| FileIdentity::of(Path::new(path))).collect() })
    }

    /// Whether a file is excluded.
    pub(in crate::tap::probe) fn contains(&self, file: &ProgramFile) -> bool {
        let path = file.name.strip_suffix(DELETED).unwrap_or(&file.name);
        let base = path.rsplit('/').next().unwrap_or_default();
        self.identities.contains(&file.identity) || self.names.iter().any(|name| name == path || name == base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: FileIdentity = FileIdentity { device: 1, inode: 7, born: None };

    fn named(name: &str, identity: FileIdentity) -> ProgramFile {
        ProgramFile { identity, path: "/proc/1/exe".into(), name: name.to_owned() }
    }

    #[test]
    fn file_is_excluded_by_its_path_or_base_name() {
        for (excluded, file, expected) in [
            ("/opt/app", "/opt/app", true),
            ("/opt/app", "/opt/app (deleted)", true),
            ("/opt/app", "/srv/opt/app", false),
            ("app", "/opt/app", true),
            ("app", "/opt/app (deleted)", true),
            ("app", "/opt/app/run", false),
            ("app", "/opt/myapp", false),
        ] {
            let found = ExcludedFiles::of(&[excluded.to_owned()]).unwrap().contains(&named(file, OTHER));
            assert_eq!(found, expected, "{excluded} {file}");
        }
    }

    #[test]
    fn excluded_file_is_matched_by_identity_under_other_names() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("app");
        std::fs::write(&file, "").unwrap();
        let excluded = ExcludedFiles::of(&[file.to_str().unwrap().to_owned()]).unwrap();
        assert!(excluded.contains(&named("/inside/of/a/container", FileIdentity::of(&file).unwrap())));
        assert!(!excluded.contains(&named("/inside/of/a/container", OTHER)));
    }

    #[test]
    fn relative_exclusion_path_is_refused() {
        for wrong in ["bin/app", "./app", ""] {
            assert!(matches!(ExcludedFiles::of(&[wrong.to_owned()]), Err(OptionsError::NoFile(_))), "{wrong}");
        }
    }
}
