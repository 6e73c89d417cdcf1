//! Processes on a node with a TLS library that only some rights reach.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use observer_tests::node::Node;
use tempfile::TempDir;

/// The installed library, of which each process has a copy.
const INSTALLED: [&str; 3] =
    ["/usr/lib/x86_64-linux-gnu/libssl.so.3", "/usr/lib64/libssl.so.3", "/usr/lib/aarch64-linux-gnu/libssl.so.3"];
/// A user that no other process has.
const USER: u32 = 59_700;
/// Loads a library, then deletes it or becomes the only user who may read it, and waits until its input closes.
const SCRIPT: &str = "
import ctypes, os, sys
library, step = sys.argv[1:]
ctypes.CDLL(library)
if step == 'delete':
    os.unlink(library)
else:
    os.chown(library, int(step), int(step))
    os.chmod(library, 0o600)
    os.setgroups([])
    os.setgid(int(step))
    os.setuid(int(step))
print('loaded', flush=True)
sys.stdin.read()
";

/// A process that has loaded its own copy of the library.
pub(super) struct Witness {
    process: Child,
    library: PathBuf,
    _folder: TempDir,
}

impl Witness {
    /// The process of another user, whose library only that user may read.
    pub(super) fn of_another_user(node: &Node) -> Self {
        Self::start(node, &USER.to_string())
    }

    /// A process whose library was deleted after it was loaded, as by an upgrade.
    pub(super) fn of_a_deleted_library(node: &Node) -> Self {
        Self::start(node, "delete")
    }

    fn start(node: &Node, step: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libssl.so.3");
        let installed =
            INSTALLED.iter().find(|path| Path::new(path).exists()).unwrap_or_else(|| panic!("the group needs libssl.so.3"));
        fs::copy(installed, &library).unwrap();
        let mut command = node.command(Path::new("python3")).unwrap();
        command.args(["-c", SCRIPT]).arg(&library).arg(step);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said, "loaded\n");
        Self { process, library, _folder: folder }
    }

    /// The path of its library.
    pub(super) fn library(&self) -> &str {
        self.library.to_str().unwrap()
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        // Its input closes, so it exits.
        drop(self.process.stdin.take());
        self.process.wait().ok();
    }
}
