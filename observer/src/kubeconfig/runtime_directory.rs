//! Checks a folder against the requirements of the XDG Base Directory Specification (0.8) for `XDG_RUNTIME_DIR`.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::geteuid;
use thiserror::Error;

/// The permission bits of a mode.
const OF_MODE: u32 = 0o777;
/// The mode that the specification requires.
const PRIVATE: u32 = 0o700;

/// Why the folder is not used.
#[derive(Debug, Error)]
pub enum NotPrivate {
    /// The path is relative; the specification ignores such paths.
    #[error("is not an absolute path")]
    Relative,
    /// The folder does not exist, or is inaccessible.
    #[error("cannot be used: {0}")]
    Unusable(#[source] io::Error),
    /// The path is not a folder.
    #[error("is not a folder")]
    NoFolder,
    /// It belongs to another user, who could replace the files in it.
    #[error("belongs to another user (uid {owner})")]
    OfAnotherUser {
        /// The uid of that user.
        owner: u32,
    },
    /// Other users have access to it.
    #[error("has the mode {mode:04o}; it must be 0700")]
    Open {
        /// Its permission bits.
        mode: u32,
    },
}

/// Checks that `folder` belongs to this process's user, with the mode 0700. No other user can then replace its files.
pub(crate) fn check_directory(folder: &Path) -> Result<(), NotPrivate> {
    if !folder.is_absolute() {
        return Err(NotPrivate::Relative);
    }
    let metadata = fs::metadata(folder).map_err(NotPrivate::Unusable)?;
    judge(metadata.is_dir(), metadata.uid(), metadata.mode(), geteuid().as_raw())
}

/// Checks the same for a folder that this program made, which is no link: a link of another user could lead to any folder.
pub(crate) fn check_own_directory(folder: &Path) -> Result<(), NotPrivate> {
    if !folder.is_absolute() {
        return Err(NotPrivate::Relative);
    }
    let metadata = fs::symlink_metadata(folder).map_err(NotPrivate::Unusable)?;
    judge(metadata.is_dir(), metadata.uid(), metadata.mode(), geteuid().as_raw())
}

fn judge(is_folder: bool, owner: u32, mode: u32, ours: u32) -> Result<(), NotPrivate> {
    match mode & OF_MODE {
        _ if !is_folder => Err(NotPrivate::NoFolder),
        _ if owner != ours => Err(NotPrivate::OfAnotherUser { owner }),
        PRIVATE => Ok(()),
        mode => Err(NotPrivate::Open { mode }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_owned_folder_with_mode_0700_is_private() {
        let said = |is_folder, owner, mode| judge(is_folder, owner, mode, 1000).map_err(|error| error.to_string());
        assert_eq!(said(true, 1000, 0o040_700), Ok(()));
        assert_eq!(said(true, 1001, 0o040_700), Err("belongs to another user (uid 1001)".to_owned()));
        assert_eq!(said(true, 0, 0o040_700), Err("belongs to another user (uid 0)".to_owned()));
        for mode in [0o040_755, 0o040_770, 0o041_777, 0o040_701, 0o040_500] {
            assert_eq!(said(true, 1000, mode), Err(format!("has the mode {:04o}; it must be 0700", mode & 0o777)));
        }
        assert_eq!(said(false, 1000, 0o100_700), Err("is not a folder".to_owned()));
    }
}
