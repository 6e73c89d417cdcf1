//! Versions of the crates that the tests use.

/// The lock file of the workspace.
const LOCK_FILE: &str = include_str!("../../Cargo.lock");

/// The version of a crate that occurs once in the lock file.
pub fn locked_version(package: &str) -> Option<&'static str> {
    let (_, entry) = LOCK_FILE.split_once(&format!("\nname = \"{package}\"\nversion = \""))?;
    entry.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::locked_version;

    #[test]
    fn version_lookup_requires_the_exact_package_name() {
        assert_eq!(locked_version("observer-tests"), Some(env!("CARGO_PKG_VERSION")));
        assert_eq!(locked_version("observer-test"), None);
    }
}
