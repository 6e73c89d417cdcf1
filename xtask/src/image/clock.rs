//! A clock that is ahead of the true one, for the second build of `--check`.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use anyhow::{Context, ensure};

use super::c_compiler::CCompiler;

/// Another year, month and day.
const DAYS: u32 = 1_000;

/// A library with that clock, for programs that are linked dynamically: this task, git, cargo, rustc and build scripts. It is removed on
/// drop.
pub(super) struct Clock {
    folder: PathBuf,
}

impl Clock {
    pub(super) fn make(compiler: &CCompiler) -> anyhow::Result<Self> {
        // The loader takes a space in a path for its end, and folders of temporary files have none.
        let clock = Self { folder: std::env::temp_dir().join(format!("watchtap-clock-{}", std::process::id())) };
        // A former run with the same process ID may have left it. A folder of another user stays, and creating it fails.
        fs::remove_dir_all(&clock.folder).ok();
        DirBuilder::new().mode(0o700).create(&clock.folder).with_context(|| clock.folder.display().to_string())?;
        let source = clock.folder.join("clock.c");
        fs::write(&source, include_str!("clock.c"))?;
        let mut compile = compiler.for_this_machine();
        compile.args(["-shared", "-fPIC", "-O1"]).arg(format!("-DAHEAD={}", DAYS * 86_400)).arg("-o").arg(clock.library());
        let status = compile.arg(&source).status().context("cannot start the C compiler")?;
        ensure!(status.success(), "the library with another clock does not compile: see the messages above");
        Ok(clock)
    }

    /// For `LD_PRELOAD`.
    pub(super) fn library(&self) -> PathBuf {
        self.folder.join("clock.so")
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        // A few kilobytes in the folder of temporary files may stay.
        fs::remove_dir_all(&self.folder).ok();
    }
}
