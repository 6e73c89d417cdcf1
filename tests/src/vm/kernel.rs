//! Kernels of Debian's releases, as a virtual machine boots them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::architecture::Architecture;
use super::debian::{Apt, Suite};
use super::modules;
use super::root::Root;
use crate::folders;

/// The folder with the packages of a machine that does not run the programs of this machine.
const ROOT: &str = "root";

/// A kernel that a virtual machine can boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VmKernel {
    /// 5.10, of Debian 11.
    V5_10,
    /// 6.1, of Debian 12.
    V6_1,
    /// 6.12, of Debian 13.
    V6_12,
    /// The newest that is backported to Debian 13.
    Newest,
    /// 6.12, of Debian 13 for arm64.
    Arm64V6_12,
}

/// A kernel on this machine's disk.
#[derive(Debug)]
pub(super) struct Unpacked {
    folder: PathBuf,
    architecture: Architecture,
}

impl VmKernel {
    /// The release without its patch, or `newest`. The name of an architecture other than x86-64 precedes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V5_10 => "5.10",
            Self::V6_1 => "6.1",
            Self::V6_12 => "6.12",
            Self::Newest => "newest",
            Self::Arm64V6_12 => "arm64-6.12",
        }
    }

    const fn suite(self) -> Suite {
        match self {
            Self::V5_10 => Suite::Security("bullseye-security"),
            Self::V6_1 => Suite::Security("bookworm-security"),
            Self::V6_12 | Self::Arm64V6_12 => Suite::Main("trixie"),
            Self::Newest => Suite::Main("trixie-backports"),
        }
    }

    pub(super) const fn architecture(self) -> Architecture {
        match self {
            Self::V5_10 | Self::V6_1 | Self::V6_12 | Self::Newest => Architecture::Amd64,
            Self::Arm64V6_12 => Architecture::Arm64,
        }
    }

    /// Downloads the kernel unless this machine has it: 55 to 120 MB, of which 15 MB are kept. For arm64, there are programs, too.
    pub(super) fn unpacked(self) -> Result<Unpacked> {
        let all = folders::vm_cache();
        fs::create_dir_all(&all).with_context(|| format!("cannot create {}", all.display()))?;
        let folder = all.join(self.name());
        // Other tests want the same kernel, or another one of the same suite.
        let lock = File::create(all.join("lock"))?;
        lock.lock().context("cannot lock the download of kernels")?;
        if !modules::are_current(&folder.join("modules")) {
            self.download(&folder, &all).with_context(|| format!("cannot get the kernel {} of Debian", self.name()))?;
        }
        Ok(Unpacked { folder, architecture: self.architecture() })
    }

    fn download(self, folder: &Path, all: &Path) -> Result<()> {
        let architecture = self.architecture();
        let apt = Apt::of(self.suite(), architecture, &all.join("apt"))?;
        let image = |name: &String| name.starts_with("linux-image-");
        // This package depends on the newest kernel of the suite.
        let newest = format!("linux-image-{}", architecture.name());
        let image = apt.dependencies(&newest)?.into_iter().find(image).context("the suite has no kernel")?;
        // In later releases, the image is in packages of its own.
        let parts = apt.dependencies(&image)?.into_iter().filter(|name| is_part(name));
        let packages: Vec<String> = [image.clone()].into_iter().chain(parts).collect();
        let work = tempfile::tempdir_in(all)?;
        let [tree, ready] = ["tree", "ready"].map(|name| work.path().join(name));
        fs::create_dir_all(ready.join("modules"))?;
        fs::create_dir(&tree)?;
        apt.unpack(&packages, &tree)?;
        let modules = ["lib/modules", "usr/lib/modules"].map(|place| tree.join(place)).into_iter().find(|place| place.is_dir());
        let modules =
            fs::read_dir(modules.context("the packages have no modules")?)?.next().context("no release has modules")??;
        modules::copy(&modules.path(), &ready.join("modules"))?;
        let release = modules.file_name();
        let of_boot = tree.join("boot").join(["vmlinuz-", &release.to_string_lossy()].concat());
        let image = [of_boot, modules.path().join("vmlinuz")].into_iter().find(|image| image.is_file());
        fs::copy(image.context("the packages have no image of the kernel")?, ready.join("vmlinuz"))?;
        if !architecture.packages().is_empty() {
            fs::create_dir(ready.join(ROOT))?;
            apt.unpack_with_dependencies(architecture.packages(), &ready.join(ROOT))?;
        }
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        fs::rename(ready, folder).with_context(|| format!("cannot make {}", folder.display()))
    }
}

impl Unpacked {
    /// The file that qemu loads.
    pub(super) fn image(&self) -> PathBuf {
        self.folder.join("vmlinuz")
    }

    /// The folder with the modules, and their `order`.
    pub(super) fn modules(&self) -> PathBuf {
        self.folder.join("modules")
    }

    /// The root of a machine with this kernel.
    pub(super) fn root(&self) -> Root {
        let is_of_this_machine = self.architecture.packages().is_empty();
        if is_of_this_machine { Root::OfThisMachine } else { Root::OfPackages(self.folder.join(ROOT)) }
    }
}

/// Whether a package that an image depends on is a part of it: `linux-base-7.3.4…`, not `linux-base`.
fn is_part(package: &str) -> bool {
    let rest = ["linux-base-", "linux-binary-", "linux-modules-"].into_iter().find_map(|prefix| package.strip_prefix(prefix));
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_image_carry_its_release() {
        assert!(is_part("linux-modules-7.3.4+deb13-amd64"));
        assert!(!is_part("linux-base"));
        assert!(!is_part("linux-image-6.12-amd64"));
    }
}
