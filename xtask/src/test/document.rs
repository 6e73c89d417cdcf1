//! A generated document of this repository. Its source is a folder of JSON files that the tests write.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use serde_json::Value;

use crate::workspace;

/// A document and the folder that it is generated from.
pub(super) struct Document {
    /// The path of the document, relative to the root of the workspace.
    pub(super) path: &'static str,
    /// The name of the folder with the tests' files, below the folder for cluster tests.
    pub(super) folder: &'static str,
}

impl Document {
    /// The folder with the tests' files.
    pub(super) fn folder(&self) -> PathBuf {
        workspace::tests_left(self.folder)
    }

    /// Removes the files of earlier runs, so that the document describes one run.
    pub(super) fn forget(&self) -> anyhow::Result<()> {
        let folder = self.folder();
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        Ok(())
    }

    /// Writes the document.
    pub(super) fn write(&self, text: &str) -> anyhow::Result<()> {
        fs::write(workspace::root().join(self.path), text).with_context(|| format!("cannot write {}", self.path))?;
        println!("== {} is written", self.path);
        Ok(())
    }
}

/// Returns a text field of an object, or an error if it is missing.
pub(super) fn text_of(object: &Value, field: &str) -> anyhow::Result<String> {
    Ok(object[field].as_str().with_context(|| format!("no {field} in {object}"))?.to_owned())
}

/// Adds a line to a page.
pub(super) fn line(page: &mut String, text: &str) {
    // Writing to a String cannot fail.
    writeln!(page, "{text}").ok();
}
