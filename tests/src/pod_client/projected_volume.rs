//! A projected volume, with the files and links that the kubelet writes (kubernetes/kubernetes `pkg/volume/util/atomic_writer.go`).
//!
//! The files are in a folder with a time as its name; the link `..data` leads there, and a link for each file leads through `..data`.
//! A rename replaces `..data`, so that readers see all new files at once.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::Result;
use tempfile::TempDir;

/// The volume's folder on this machine, which is removed on drop.
#[derive(Debug)]
pub struct ProjectedVolume {
    folder: TempDir,
    updates: u32,
}

impl ProjectedVolume {
    /// Creates a volume with these files (name and content).
    pub fn create(files: &[(&str, &str)]) -> Result<Self> {
        let mut volume = Self { folder: tempfile::tempdir()?, updates: 0 };
        volume.update(files)?;
        for (name, _) in files {
            symlink(Path::new("..data").join(name), volume.path().join(name))?;
        }
        Ok(volume)
    }

    /// Replaces the contents of all files at once; the names stay the same. The earlier contents are removed.
    pub fn update(&mut self, files: &[(&str, &str)]) -> Result<()> {
        let (before, after) = (self.contents(), {
            self.updates += 1;
            self.contents()
        });
        fs::create_dir(self.path().join(&after))?;
        for (name, content) in files {
            fs::write(self.path().join(&after).join(name), content)?;
        }
        let [link, new_link] = ["..data", "..data_tmp"].map(|name| self.path().join(name));
        symlink(&after, &new_link)?;
        fs::rename(new_link, link)?;
        if self.updates > 1 {
            fs::remove_dir_all(self.path().join(before))?;
        }
        Ok(())
    }

    /// The folder, for a mount.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The name of the folder with the present contents. The kubelet adds random digits.
    fn contents(&self) -> String {
        format!("..2026_01_01_00_00_{:02}.{}", self.updates, self.updates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn update_replaces_all_files_behind_the_same_links() {
        let mut volume = ProjectedVolume::create(&[("token", "first"), ("namespace", "default")]).unwrap();
        let read = |volume: &ProjectedVolume, name: &str| fs::read_to_string(volume.path().join(name)).unwrap();
        assert_eq!(read(&volume, "token"), "first");
        volume.update(&[("token", "second"), ("namespace", "default")]).unwrap();
        assert_eq!((read(&volume, "token"), read(&volume, "namespace")), ("second".to_owned(), "default".to_owned()));
        assert_eq!(fs::read_link(volume.path().join("token")).unwrap(), Path::new("..data/token"));
        let mut names: Vec<_> = fs::read_dir(volume.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["..2026_01_01_00_00_02.2", "..data", "namespace", "token"]);
    }
}
