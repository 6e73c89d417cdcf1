//! A document of ours that is made of what tests leave: JSON files, in a folder that the harness of the tests finds as well.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use serde_json::Value;

use crate::workspace;

/// Where it is made of what.
pub(super) struct Document {
    /// From the root of the workspace.
    pub(super) path: &'static str,
    /// The tests' folder, below the one of clusters.
    pub(super) folder: &'static str,
}

impl Document {
    /// Where the tests leave their files.
    pub(super) fn folder(&self) -> PathBuf {
        workspace::tests_left(self.folder)
    }

    /// Forgets what earlier runs left, so that the document is of one run.
    pub(super) fn forget(&self) -> anyhow::Result<()> {
        let folder = self.folder();
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        Ok(())
    }

    /// Writes it.
    pub(super) fn write(&self, text: &str) -> anyhow::Result<()> {
        fs::write(workspace::root().join(self.path), text).with_context(|| format!("cannot write {}", self.path))?;
        println!("== {} is written", self.path);
        Ok(())
    }
}

/// A field that must be there.
pub(super) fn text_of(object: &Value, field: &str) -> anyhow::Result<String> {
    Ok(object[field].as_str().with_context(|| format!("no {field} in {object}"))?.to_owned())
}

/// Adds a line to a page.
pub(super) fn line(page: &mut String, text: &str) {
    // Writing to a String does not fail.
    writeln!(page, "{text}").ok();
}
