//! Finds the commit to compare with, and checks it out into a Git worktree.

use std::path::PathBuf;

use anyhow::Context;
use xshell::{Shell, cmd};

use super::counting;

/// The names of the main branch, in the order to try.
const MAIN: [&str; 2] = ["origin/main", "main"];

/// The commit where this branch left the main branch; on the main branch itself, the commit before. `None` if this clone has neither.
pub(crate) fn usual(shell: &Shell) -> Option<String> {
    let head = commit(shell, "HEAD")?;
    let branched_at = MAIN.iter().find_map(|main| cmd!(shell, "git merge-base HEAD {main}").quiet().ignore_stderr().read().ok());
    branched_at.filter(|base| *base != head).or_else(|| commit(shell, "HEAD~1"))
}

/// The hash of a revision; `None` if there is no such commit.
pub(crate) fn commit(shell: &Shell, revision: &str) -> Option<String> {
    let revision = format!("{revision}^{{commit}}");
    cmd!(shell, "git rev-parse --verify --quiet {revision}").quiet().ignore_stderr().read().ok()
}

/// The values of the trailer `key` in the commits after `base`, one per line.
pub(crate) fn trailers(shell: &Shell, base: &str, key: &str) -> anyhow::Result<String> {
    let (format, range) = (format!("--format=%(trailers:key={key},valueonly)"), format!("{base}..HEAD"));
    cmd!(shell, "git log {format} {range}").quiet().read().context("git cannot read the commit messages")
}

/// A checkout of a commit below the target folder; dropping it removes it.
pub(crate) struct Checkout<'a> {
    shell: &'a Shell,
    pub(crate) root: PathBuf,
}

impl<'a> Checkout<'a> {
    pub(crate) fn of(shell: &'a Shell, commit: &str) -> anyhow::Result<Self> {
        let checkout = Self { shell, root: counting::folder().join("checkout") };
        // A run that was killed may have left its worktree.
        checkout.remove();
        let root = &checkout.root;
        let added = cmd!(shell, "git worktree add --quiet --force --detach {root} {commit}").quiet().run();
        added.with_context(|| format!("git cannot check {commit} out"))?;
        Ok(checkout)
    }

    fn remove(&self) {
        let root = &self.root;
        cmd!(self.shell, "git worktree remove --force {root}").quiet().ignore_stderr().ignore_status().run().ok();
    }
}

impl Drop for Checkout<'_> {
    fn drop(&mut self) {
        self.remove();
    }
}
