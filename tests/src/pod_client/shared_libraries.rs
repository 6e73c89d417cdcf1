//! The shared libraries that programs need, with the loader.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use super::root::{copy, require, run};

/// Copies all shared libraries that these programs and libraries need to the same paths in `root`. Libraries that are in `root`
/// already are found beside their users, or their users' program loads them first.
pub(super) fn copy_shared_libraries(of: &[PathBuf], root: &Path) -> Result<()> {
    let listed = run(Command::new(require("ldd")?).args(of))?;
    let listed = Listed::parse(&String::from_utf8(listed)?);
    let is_in_root = |name: &str| of.iter().any(|file| file.ends_with(name));
    if let Some(missing) = listed.missing.iter().find(|name| !is_in_root(name)) {
        bail!("the shared library {missing} is not on this machine");
    }
    for library in listed.found {
        let target = root.join(library.strip_prefix("/")?);
        if !library.starts_with(root) && !target.exists() {
            copy(&library, &target, &|_| true)?;
        }
    }
    Ok(())
}

/// Adds the files in a folder, and in the folders below it, that a program may load at run time.
pub(super) fn shared_objects(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            shared_objects(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "so") {
            found.push(path);
        }
    }
    Ok(())
}

/// The output of ldd.
#[derive(Debug, Default, PartialEq, Eq)]
struct Listed {
    found: Vec<PathBuf>,
    missing: Vec<String>,
}

impl Listed {
    /// A line is `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)`, and without an arrow for the loader. The kernel's library has no
    /// path.
    fn parse(listed: &str) -> Self {
        let mut libraries = Self::default();
        for line in listed.lines().map(str::trim) {
            let (name, found) = line.split_once(" => ").unwrap_or((line, line));
            if found == "not found" {
                libraries.missing.push(name.to_owned());
            } else if let Some((path, _address)) = found.split_once(" (").filter(|(path, _)| path.starts_with('/')) {
                libraries.found.push(PathBuf::from(path));
            }
        }
        libraries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_with_the_loader_and_without_the_kernels() {
        let listed = "\tlinux-vdso.so.1 (0x00007f1e18256000)
\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f1e17f20000)
\tlibjvm.so => not found
\t/lib64/ld-linux-x86-64.so.2 (0x00007f1e18258000)
/usr/lib/python3.11/lib-dynload/_ssl.so:
\tstatically linked
";
        let found = ["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2"].map(PathBuf::from).to_vec();
        assert_eq!(Listed::parse(listed), Listed { found, missing: vec!["libjvm.so".to_owned()] });
    }
}
