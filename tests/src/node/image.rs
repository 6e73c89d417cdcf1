//! Container images from files of this machine, without a registry and without a tool.
//!
//! An image is one layer. The archive has the format of `docker save`, which `ctr images import` reads. Equal contents make equal bytes.

use std::fs::{self, File};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tar::{Builder, EntryType, Header};

use crate::digest::Hasher;
use crate::programs;

/// The contents of an image.
#[derive(Clone, Debug)]
pub struct Image {
    name: String,
    entries: Vec<Entry>,
    config: Value,
}

#[derive(Clone, Debug)]
enum Entry {
    /// From this file or folder of the machine.
    Copied {
        to: String,
        from: PathBuf,
    },
    Written {
        to: String,
        content: Vec<u8>,
        mode: u32,
    },
    Link {
        at: String,
        target: String,
    },
}

impl Image {
    /// An empty image. `name` begins with `localhost/` and has a tag other than `latest`, or the kubelet tries to pull it.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), entries: Vec::new(), config: json!({"WorkingDir": "/"}) }
    }

    /// Adds a file, or a folder with all that is in it. Folders above it are created. Of the modes, only the right to execute is
    /// copied; owner is root. Links of the machine stay links.
    #[must_use]
    pub fn copy(mut self, from: impl Into<PathBuf>, to: &str) -> Self {
        self.entries.push(Entry::Copied { to: relative(to), from: from.into() });
        self
    }

    /// Adds a file with this content and mode.
    #[must_use]
    pub fn file(mut self, to: &str, content: impl Into<Vec<u8>>, mode: u32) -> Self {
        self.entries.push(Entry::Written { to: relative(to), content: content.into(), mode });
        self
    }

    /// Adds a symbolic link.
    #[must_use]
    pub fn link(mut self, at: &str, target: &str) -> Self {
        self.entries.push(Entry::Link { at: relative(at), target: target.to_owned() });
        self
    }

    /// Sets the command of its containers.
    #[must_use]
    pub fn entrypoint(mut self, command: &[&str]) -> Self {
        self.config["Entrypoint"] = json!(command);
        self
    }

    /// Sets an environment variable of its containers.
    #[must_use]
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        let variable = Value::from(format!("{name}={value}"));
        match self.config["Env"].as_array_mut() {
            Some(variables) => variables.push(variable),
            None => self.config["Env"] = json!([variable]),
        }
        self
    }

    /// Sets the user of its containers. The number lets the kubelet check `runAsNonRoot`.
    #[must_use]
    pub fn user(mut self, id: u32) -> Self {
        self.config["User"] = Value::from(id.to_string());
        self
    }

    /// The name with which pods refer to it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes the archive.
    pub fn write(&self, archive: &Path) -> Result<()> {
        let mut layer = self.layer().with_context(|| format!("cannot make the layer of {}", self.name))?;
        let length = layer.metadata()?.len();
        let mut hasher = Hasher::new();
        layer.rewind()?;
        std::io::copy(&mut layer, &mut hasher)?;
        let config = json!({
            "architecture": architecture(), "os": "linux", "config": self.config,
            "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{}", hasher.finish().hexadecimal())]},
        });
        let manifest = json!([{"Config": "config.json", "RepoTags": [self.name], "Layers": ["layer.tar"]}]);
        let mut builder = Builder::new(File::create(archive).with_context(|| format!("cannot create {}", archive.display()))?);
        for (name, document) in [("manifest.json", manifest), ("config.json", config)] {
            let document = document.to_string();
            builder.append_data(&mut header(EntryType::Regular, 0o644, document.len() as u64), name, document.as_bytes())?;
        }
        layer.rewind()?;
        builder.append_data(&mut header(EntryType::Regular, 0o644, length), "layer.tar", layer)?;
        Ok(builder.into_inner()?.flush()?)
    }

    /// The uncompressed layer. Runtimes create missing folders above a file.
    fn layer(&self) -> Result<File> {
        let mut builder = Builder::new(tempfile::tempfile()?);
        builder.append_data(&mut header(EntryType::Directory, 0o1777, 0), "tmp/", std::io::empty())?;
        for entry in &self.entries {
            match entry {
                Entry::Copied { to, from } => copy(&mut builder, from, to)?,
                Entry::Written { to, content, mode } => {
                    builder.append_data(&mut header(EntryType::Regular, *mode, content.len() as u64), to, content.as_slice())?;
                }
                Entry::Link { at, target } => builder.append_link(&mut header(EntryType::Symlink, 0o777, 0), at, target)?,
            }
        }
        Ok(builder.into_inner()?)
    }
}

fn copy(builder: &mut Builder<File>, from: &Path, to: &str) -> Result<()> {
    let metadata = from.symlink_metadata().with_context(|| format!("cannot read {}", from.display()))?;
    if metadata.is_symlink() {
        builder.append_link(&mut header(EntryType::Symlink, 0o777, 0), to, fs::read_link(from)?)?;
    } else if metadata.is_dir() {
        builder.append_data(&mut header(EntryType::Directory, 0o755, 0), format!("{to}/"), std::io::empty())?;
        let mut entries = fs::read_dir(from)?.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_str().with_context(|| format!("{} has a name that is not text", entry.path().display()))?;
            copy(builder, &entry.path(), &format!("{to}/{name}"))?;
        }
    } else {
        let mode = if programs::is_executable(from) { 0o755 } else { 0o644 };
        builder.append_data(&mut header(EntryType::Regular, mode, metadata.len()), to, File::open(from)?)?;
    }
    Ok(())
}

/// A header without the machine's times and owners.
fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// Go's name of this machine's architecture, which images use.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn relative(path: &str) -> String {
    path.trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::digest::Digest;

    #[test]
    fn archive_holds_config_and_layer() {
        let folder = tempfile::tempdir().unwrap();
        let long = "a-name-of-forty-characters-in-each-folder".repeat(3);
        fs::create_dir_all(folder.path().join("data").join(&long).join(&long)).unwrap();
        fs::write(folder.path().join("data").join(&long).join(&long).join("file"), "deep").unwrap();
        let image = Image::new("localhost/x:1")
            .file("/etc/settings", "a=b", 0o600)
            .link("/bin", "usr/bin")
            .copy(folder.path().join("data"), "/data")
            .entrypoint(&["/run"])
            .environment("ONE", "1")
            .environment("TWO", "2")
            .user(65532);
        let files = written(&image);

        let config: Value = serde_json::from_slice(&files["config.json"]).unwrap();
        let expected = json!({"Entrypoint": ["/run"], "Env": ["ONE=1", "TWO=2"], "User": "65532", "WorkingDir": "/"});
        assert_eq!(config["config"], expected);
        let digest = Digest::of(&files["layer.tar"]).hexadecimal();
        assert_eq!(config["rootfs"]["diff_ids"], json!([format!("sha256:{digest}")]));
        let manifest: Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
        assert_eq!(manifest, json!([{"Config": "config.json", "RepoTags": ["localhost/x:1"], "Layers": ["layer.tar"]}]));

        let mut layer = tar::Archive::new(files["layer.tar"].as_slice());
        let entries: Vec<(String, u32, Option<PathBuf>)> = layer
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let link = entry.link_name().unwrap().map(std::borrow::Cow::into_owned);
                (entry.path().unwrap().display().to_string(), entry.header().mode().unwrap(), link)
            })
            .collect();
        let expected = [
            ("tmp/".to_owned(), 0o1777, None),
            ("etc/settings".to_owned(), 0o600, None),
            ("bin".to_owned(), 0o777, Some("usr/bin".into())),
            ("data/".to_owned(), 0o755, None),
            (format!("data/{long}/"), 0o755, None),
            (format!("data/{long}/{long}/"), 0o755, None),
            (format!("data/{long}/{long}/file"), 0o644, None),
        ];
        assert_eq!(entries, expected);
    }

    #[test]
    fn equal_contents_make_equal_bytes() {
        let image = Image::new("localhost/x:1").file("/file", "content", 0o644);
        assert_eq!(written(&image), written(&image));
    }

    fn written(image: &Image) -> BTreeMap<String, Vec<u8>> {
        let archive = tempfile::NamedTempFile::new().unwrap();
        image.write(archive.path()).unwrap();
        let mut archive = tar::Archive::new(File::open(archive.path()).unwrap());
        let read = |entry: std::io::Result<tar::Entry<'_, File>>| {
            let mut entry = entry.unwrap();
            let mut content = Vec::new();
            std::io::Read::read_to_end(&mut entry, &mut content).unwrap();
            (entry.path().unwrap().display().to_string(), content)
        };
        archive.entries().unwrap().map(read).collect()
    }
}
