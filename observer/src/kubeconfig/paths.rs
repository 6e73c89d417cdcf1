//! Makes relative paths in a kubeconfig absolute, as client-go does when it loads one.
//!
//! The fields are those of `GetClusterFileReferences` and `GetAuthInfoFileReferences`, the joining is that of `ResolvePaths`
//! (kubernetes/client-go `tools/clientcmd/loader.go`, v0.34). Go's `filepath.Join` resolves `..` textually, without following
//! symbolic links. This module does the same, so that the client opens the same file.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use super::error::Error;
use super::section::{Entry, Section};

/// Makes the paths of one entry absolute. Contexts have none.
pub(super) fn make_absolute(section: Section, entry: &mut Entry) -> Result<(), Error> {
    let folder = entry.folder();
    let location = entry.location.clone();
    let fields: &[&str] = match section {
        Section::Clusters => &["certificate-authority"],
        Section::Users => &["client-certificate", "client-key", "tokenFile"],
        Section::Contexts => &[],
    };
    let Some(body) = entry.body_mut() else { return Ok(()) };
    for field in fields {
        resolve(&folder, body, field).ok_or_else(|| Error::FolderNotUnicode { location: location.child(field) })?;
    }
    if section == Section::Users
        && let Some(exec) = body.get_mut("exec").and_then(Value::as_object_mut)
        && exec.get("command").and_then(Value::as_str).is_some_and(|command| command.contains('/'))
    {
        resolve(&folder, exec, "command").ok_or_else(|| Error::FolderNotUnicode { location: location.child("exec.command") })?;
    }
    Ok(())
}

/// Makes one field absolute. Returns `None` if the absolute path is not UTF-8, which neither YAML nor JSON can express.
fn resolve(folder: &Path, fields: &mut Map<String, Value>, field: &str) -> Option<()> {
    let Some(Value::String(path)) = fields.get_mut(field) else { return Some(()) };
    if !path.is_empty() && Path::new(path.as_str()).is_relative() {
        *path = clean(&folder.join(&*path)).into_os_string().into_string().ok()?;
    }
    Some(())
}

/// Go's `filepath.Clean` for absolute paths.
fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                cleaned.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => cleaned.push(component),
        }
    }
    cleaned
}
