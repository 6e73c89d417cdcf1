//! An OCI image layout: blobs named by their hashes, and an index of the images (opencontainers/image-spec, `image-layout.md`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::layer::{self, File, Files, Mode};

/// The file that marks a folder as a layout.
const MARKER: &str = "oci-layout";

const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// A reference to a blob: its type, hash and size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    pub(super) media_type: &'static str,
    pub(super) digest: String,
    pub(super) size: usize,
}

impl Descriptor {
    fn of(media_type: &'static str, bytes: &[u8]) -> Self {
        Self { media_type, digest: digest(bytes), size: bytes.len() }
    }

    pub(super) fn json(&self) -> Value {
        json!({ "mediaType": self.media_type, "digest": self.digest, "size": self.size })
    }

    /// Its document with further members, such as a platform.
    pub(super) fn json_with<const N: usize>(&self, members: [(&str, Value); N]) -> Value {
        let mut json = self.json();
        for (name, value) in members {
            json[name] = value;
        }
        json
    }
}

/// The digest of a blob, as `sha256:HEX`.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let digits = hash.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let digits: String = digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect();
    format!("sha256:{digits}")
}

/// The blobs of a layout, and the entries of its index.
#[derive(Default)]
pub(super) struct Layout {
    blobs: BTreeMap<String, Vec<u8>>,
    entries: Vec<Value>,
}

impl Layout {
    pub(super) fn add(&mut self, media_type: &'static str, bytes: Vec<u8>) -> Descriptor {
        let descriptor = Descriptor::of(media_type, &bytes);
        self.blobs.insert(descriptor.digest.clone(), bytes);
        descriptor
    }

    pub(super) fn add_json(&mut self, media_type: &'static str, document: &Value) -> Descriptor {
        self.add(media_type, document.to_string().into_bytes())
    }

    /// Adds an index of images, one per platform.
    pub(super) fn add_index(&mut self, images: &[Value], annotations: &Value) -> Descriptor {
        let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": images, "annotations": annotations });
        self.add_json(INDEX, &index)
    }

    /// Adds an entry to the index of the layout, where readers begin.
    pub(super) fn list(&mut self, entry: Value) {
        self.entries.push(entry);
    }

    /// Adds an entry before all others.
    pub(super) fn list_first(&mut self, entry: Value) {
        self.entries.insert(0, entry);
    }

    fn files(&self) -> Files {
        let readable = |content: Vec<u8>| File { mode: Mode::Readable, content };
        let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": self.entries });
        let blobs = self.blobs.iter().map(|(digest, blob)| (format!("blobs/{}", digest.replace(':', "/")), readable(blob.clone())));
        let mut files: Files = blobs.collect();
        files.insert(MARKER.to_owned(), readable(json!({ "imageLayoutVersion": "1.0.0" }).to_string().into_bytes()));
        files.insert(String::from("index.json"), readable(index.to_string().into_bytes()));
        files
    }

    /// Writes a tar if the name of `output` ends in `.tar`, else a folder. A reader never sees half of it, and an older image is there
    /// until the new one is complete.
    pub(super) fn write(&self, output: &Path, time: u64) -> anyhow::Result<()> {
        let files = self.files();
        let is_archive = output.extension().is_some_and(|extension| extension == "tar");
        let parent = output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        let part = with_suffix(output, ".part");
        let replaced = || format!("cannot replace {}", output.display());
        if is_archive {
            fs::write(&part, layer::tar(&files, time)?).with_context(|| format!("cannot write {}", part.display()))?;
            return fs::rename(&part, output).with_context(replaced);
        }
        check_replaceable(output)?;
        write_folder(&part, &files)?;
        exchange(&part, output).with_context(replaced)
    }
}

/// The path with `suffix` behind its last name.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn write_folder(folder: &Path, files: &Files) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    for (name, file) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(&path, &file.content).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Fails if a folder holds anything but an older layout.
fn check_replaceable(folder: &Path) -> anyhow::Result<()> {
    let Ok(mut entries) = fs::read_dir(folder) else { return Ok(()) };
    let is_replaceable = folder.join(MARKER).is_file() || entries.next().is_none();
    ensure!(is_replaceable, "{} holds something other than an image: choose another --output, or remove it", folder.display());
    Ok(())
}

/// Puts the folder `new` at `place`, and removes what was there. If it cannot be put there, what was there stays.
fn exchange(new: &Path, place: &Path) -> std::io::Result<()> {
    if !place.exists() {
        return fs::rename(new, place);
    }
    let old = with_suffix(place, ".replaced");
    if old.exists() {
        fs::remove_dir_all(&old)?;
    }
    fs::rename(place, &old)?;
    if let Err(error) = fs::rename(new, place) {
        fs::rename(&old, place)?;
        return Err(error);
    }
    fs::remove_dir_all(&old)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::scratch::Scratch;

    fn layout() -> Layout {
        let mut layout = Layout::default();
        let text = layout.add("text/plain", b"abc".to_vec());
        layout.list(text.json_with([("platform", json!({ "os": "linux" }))]));
        layout
    }

    #[test]
    fn blobs_have_the_names_of_their_hashes() {
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let files = layout().files();
        let names: Vec<&String> = files.keys().collect();
        assert_eq!(names, [&format!("blobs/sha256/{digest}"), "index.json", "oci-layout"]);
        let index = String::from_utf8(files["index.json"].content.clone()).unwrap();
        let entry = format!(r#"{{"mediaType":"text/plain","digest":"sha256:{digest}","size":3,"platform":{{"os":"linux"}}}}"#);
        assert_eq!(index, format!(r#"{{"schemaVersion":2,"mediaType":"{INDEX}","manifests":[{entry}]}}"#));
    }

    #[test]
    fn archive_and_folder_have_the_same_files() {
        let scratch = Scratch::new("both");
        let (archive, folder) = (scratch.path().join("deep/image.tar"), scratch.path().join("image"));
        layout().write(&archive, 7).unwrap();
        layout().write(&folder, 7).unwrap();
        let file = fs::File::open(&archive).unwrap();
        for entry in tar::Archive::new(file).entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut content = Vec::new();
            std::io::Read::read_to_end(&mut entry, &mut content).unwrap();
            assert_eq!(fs::read(folder.join(entry.path().unwrap())).unwrap(), content);
        }
    }

    #[test]
    fn older_layout_is_replaced_when_the_new_one_is_complete() {
        let scratch = Scratch::new("replaced");
        let folder = scratch.path().join("image");
        layout().write(&folder, 7).unwrap();
        let old = fs::read(folder.join("index.json")).unwrap();
        // A file where the new layout would be written.
        fs::write(scratch.path().join("image.part"), "").unwrap();
        assert!(Layout::default().write(&folder, 7).is_err());
        assert_eq!(fs::read(folder.join("index.json")).unwrap(), old);
        fs::remove_file(scratch.path().join("image.part")).unwrap();
        Layout::default().write(&folder, 7).unwrap();
        assert!(!folder.join("blobs").exists());
        assert_ne!(fs::read(folder.join("index.json")).unwrap(), old);
        let names: Vec<_> = fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["image"]);
    }

    #[test]
    fn folder_with_other_files_is_kept() {
        let scratch = Scratch::new("kept");
        fs::write(scratch.path().join("notes.txt"), "mine").unwrap();
        let error = layout().write(scratch.path(), 7).unwrap_err().to_string();
        assert!(error.contains("holds something other than an image"), "{error}");
        assert_eq!(fs::read_to_string(scratch.path().join("notes.txt")).unwrap(), "mine");
    }
}
