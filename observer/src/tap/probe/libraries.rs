//! Which of the shared libraries that processes have mapped may contain a TLS library. Most do not, and each is looked into once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use procfs::process::MemoryMap;

use super::binary::names_tls_functions;
use super::never::NeverProbed;
use super::opened_file::OpenedFile;
use super::program_file::ProgramFile;

/// Words in the names of shared libraries that are or contain a TLS library: libssl, `BoringSSL` under its own name, netty's tcnative and
/// conscrypt of Java, the `_ssl` module of Python. One of these is told if it cannot be probed.
const TLS_WORDS: &[&str] = &["ssl", "tls", "tcnative", "conscrypt"];
/// Libraries that are remembered; those of a machine are some hundred to some thousand.
const MOST: usize = 16_384;
/// For how long one is: a library that takes the place of another may get its number.
const REMEMBERED: Duration = Duration::from_mins(10);

/// What is known of libraries.
#[derive(Debug, Default)]
pub(super) struct Libraries {
    /// Those that nobody may look into.
    never: NeverProbed,
    known: HashMap<Mapped, LookedInto>,
}

/// A library's device, inode and name, as tables of mappings have them.
type Mapped = ((i32, i32), u64, PathBuf);

#[derive(Clone, Copy, Debug)]
struct LookedInto {
    at: Instant,
    may_have_tls: bool,
}

impl Libraries {
    /// Into none of these is looked: each may have TLS.
    pub(super) fn sparing(never: NeverProbed) -> Self {
        Self { never, known: HashMap::new() }
    }

    /// Whether a library may have TLS. One that its name does not tell is reached as `found`, and looked into the first time.
    pub(super) fn may_have_tls(&mut self, map: &MemoryMap, name: &Path, found: impl FnOnce() -> ProgramFile) -> bool {
        if is_named_so(name) {
            return true;
        }
        let (key, now) = ((map.dev, map.inode, name.to_owned()), Instant::now());
        if let Some(known) = self.known.get(&key).filter(|known| now.duration_since(known.at) < REMEMBERED) {
            return known.may_have_tls;
        }
        let file = found();
        let may_have_tls = self.never.contains(&file) || {
            let Ok(opened) = OpenedFile::of(&file) else { return false };
            // What is no ELF file of 64 bits has no code that is probed.
            names_tls_functions(opened.path()).unwrap_or(false)
        };
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(key, LookedInto { at: now, may_have_tls });
        may_have_tls
    }
}

fn is_named_so(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    TLS_WORDS.iter().any(|word| name.contains(word))
}
