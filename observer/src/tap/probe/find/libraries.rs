//! Decides which mapped shared libraries may contain a TLS library. Most do not, and each is searched once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use procfs::process::MemoryMap;

use super::excluded::ExcludedFiles;
use super::opened_file::OpenedFile;
use super::program_file::ProgramFile;
use crate::tap::probe::binary::names_tls_functions;

/// Words in the names of shared libraries that are or contain a TLS library: libssl (also of NSS), `BoringSSL` under its own name,
/// `GnuTLS` and Mbed TLS, netty's tcnative and conscrypt of Java, the Java VM, the `_ssl` module of Python.
const TLS_WORDS: &[&str] = &["ssl", "tls", "tcnative", "conscrypt", "libjvm"];
/// Maximum number of remembered libraries; a machine has some hundreds to thousands.
const MOST: usize = 16_384;
/// How long a library is remembered. The time is limited, since a library that replaces it may get the same inode.
const REMEMBERED: Duration = Duration::from_mins(10);

/// Remembers which libraries may have TLS.
#[derive(Debug, Default)]
pub(in crate::tap::probe) struct Libraries {
    /// Libraries that may not be searched.
    excluded: ExcludedFiles,
    known: HashMap<Mapped, Searched>,
}

/// A library's device, inode and name, as tables of mappings have them.
type Mapped = ((i32, i32), u64, PathBuf);

#[derive(Clone, Copy, Debug)]
struct Searched {
    at: Instant,
    may_have_tls: bool,
}

impl Libraries {
    /// Libraries in `excluded` are not searched; each counts as one that may have TLS.
    pub(in crate::tap::probe) fn excluding(excluded: ExcludedFiles) -> Self {
        Self { excluded, known: HashMap::new() }
    }

    /// Whether a library may have TLS. If its name does not show that, the file that `found` returns is searched the first time.
    pub(in crate::tap::probe) fn may_have_tls(
        &mut self,
        map: &MemoryMap,
        name: &Path,
        found: impl FnOnce() -> ProgramFile,
    ) -> bool {
        if is_named_so(name) {
            return true;
        }
        let (key, now) = ((map.dev, map.inode, name.to_owned()), Instant::now());
        if let Some(known) = self.known.get(&key).filter(|known| now.duration_since(known.at) < REMEMBERED) {
            return known.may_have_tls;
        }
        let file = found();
        let may_have_tls = self.excluded.contains(&file) || {
            let Ok(opened) = OpenedFile::of(&file) else { return false };
            // Only 64-bit ELF files have code that can be probed.
            names_tls_functions(opened.path()).unwrap_or(false)
        };
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(key, Searched { at: now, may_have_tls });
        may_have_tls
    }
}

fn is_named_so(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    TLS_WORDS.iter().any(|word| name.contains(word))
}
