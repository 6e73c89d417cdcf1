//! Modules of a kernel, in the order in which they can be inserted.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::bounded::output_within;
use crate::programs;

/// Modules that lead to the root of each virtual machine, that of its network, and those that the probe asks for sockets.
const NEEDED: [&str; 7] = ["virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_net", "inet_diag", "tcp_diag"];
/// The file with the names for which modules were copied.
const COPIED_FOR: &str = "copied-for";
/// Time limit for one file.
const LIMIT: Duration = Duration::from_mins(1);

/// The modules in the tree of one kernel: by their names, with `_` for `-` as the kernel writes them.
#[derive(Debug)]
struct Tree {
    files: BTreeMap<String, PathBuf>,
    built_in: Vec<String>,
}

/// Copies the needed modules of the kernel in `tree` (`lib/modules/RELEASE`) into `folder`, with a list of their names in `order`. A module
/// follows those that it depends on.
pub(super) fn copy(tree: &Path, folder: &Path) -> Result<()> {
    let tree = Tree::read(tree)?;
    let mut order = Vec::new();
    for name in NEEDED {
        tree.add(name, folder, &mut order)?;
    }
    fs::write(folder.join(COPIED_FOR), NEEDED.join(" "))?;
    Ok(fs::write(folder.join("order"), order.concat())?)
}

/// Whether `folder` has what is needed now: an earlier version of these tests may have needed other modules.
pub(super) fn are_current(folder: &Path) -> bool {
    fs::read_to_string(folder.join(COPIED_FOR)).is_ok_and(|names| names == NEEDED.join(" "))
}

impl Tree {
    fn read(tree: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        let mut folders = vec![tree.join("kernel")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Some(name) = module_name(&path) {
                    files.insert(name, path);
                }
            }
        }
        let built_in = fs::read_to_string(tree.join("modules.builtin")).context("the kernel has no list of its own modules")?;
        Ok(Self { files, built_in: built_in.lines().filter_map(|line| module_name(Path::new(line))).collect() })
    }

    /// Adds a module after its dependencies, unless it is there or part of the kernel.
    fn add(&self, name: &str, folder: &Path, order: &mut Vec<String>) -> Result<()> {
        let line = format!("{name}.ko\n");
        if self.built_in.iter().any(|other| other == name) || order.contains(&line) {
            return Ok(());
        }
        let module = uncompressed(self.files.get(name).with_context(|| format!("the kernel has no module {name}"))?)?;
        for dependency in dependencies(&module) {
            self.add(&dependency, folder, order)?;
        }
        fs::write(folder.join(line.trim_end()), module)?;
        order.push(line);
        Ok(())
    }
}

fn module_name(file: &Path) -> Option<String> {
    let (name, _compression) = file.file_name()?.to_str()?.split_once(".ko")?;
    Some(name.replace('-', "_"))
}

fn uncompressed(file: &Path) -> Result<Vec<u8>> {
    let program = match file.extension().and_then(|extension| extension.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        Some("gz") => "gzip",
        _ => return Ok(fs::read(file)?),
    };
    let mut command = Command::new(programs::require(program, "to uncompress modules of a kernel")?);
    let output = output_within(command.args(["-d", "-c"]).arg(file), LIMIT)?;
    ensure!(output.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}

/// The field `depends` of the section `.modinfo` (Linux `scripts/mod/modpost.c`).
fn dependencies(module: &[u8]) -> Vec<String> {
    let field = module.split(|byte| *byte == 0).find_map(|text| std::str::from_utf8(text).ok()?.strip_prefix("depends="));
    let names = field.unwrap_or_default().split(',').filter(|name| !name.is_empty());
    names.map(|name| name.replace('-', "_")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_read_from_the_module() {
        let module = b"\x7fELF\xff\0license=GPL\0depends=9pnet,netfs\0name=9p\0";
        assert_eq!(dependencies(module), ["9pnet", "netfs"]);
        assert_eq!(dependencies(b"\0depends=\0"), Vec::<String>::new());
    }

    #[test]
    fn names_are_those_of_the_kernel() {
        let names = ["kernel/fs/9p/9p.ko", "kernel/net/ipv4/tcp-diag.ko.xz", "modules.dep"];
        assert_eq!(names.map(|name| module_name(Path::new(name))), [Some("9p".into()), Some("tcp_diag".into()), None]);
    }
}
