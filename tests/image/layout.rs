//! The layout of the image, unpacked from its archive, and the documents in it.

use std::fs;
use std::path::{Path, PathBuf};

use observer_tests::Digest;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::output;

/// The variable that names the archive; `xtask/src/test/command.rs` sets it.
const VARIABLE: &str = "WATCHTAP_TESTS_IMAGE";

/// The name of the image, as `cargo xtask test` chooses it.
pub(crate) const NAME: &str = "localhost/watchtap:1";

pub(crate) const BILL_OF_MATERIALS: &str = "application/vnd.cyclonedx+json";

pub(crate) fn archive() -> PathBuf {
    let archive = std::env::var_os(VARIABLE);
    PathBuf::from(archive.unwrap_or_else(|| panic!("{VARIABLE} names no image: run `cargo xtask test --only image`")))
}

/// A layout as a folder.
pub(crate) struct Layout {
    folder: TempDir,
}

impl Layout {
    pub(crate) fn unpack() -> Self {
        let folder = tempfile::tempdir().unwrap();
        output("tar", &["-xf".as_ref(), archive().as_ref(), "-C".as_ref(), folder.path().as_ref()]);
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn index(&self) -> Value {
        serde_json::from_slice(&fs::read(self.path().join("index.json")).unwrap()).unwrap()
    }

    /// The content of the blob that `descriptor` refers to, after a check of its hash and size.
    pub(crate) fn blob(&self, descriptor: &Value) -> Vec<u8> {
        let digest = descriptor["digest"].as_str().unwrap();
        let blob = fs::read(self.path().join("blobs").join(digest.replace(':', "/"))).unwrap();
        assert_eq!(digest, sha256(&blob));
        assert_eq!(descriptor["size"], blob.len());
        blob
    }

    pub(crate) fn document(&self, descriptor: &Value) -> Value {
        serde_json::from_slice(&self.blob(descriptor)).unwrap()
    }

    /// The manifests of the image, with their descriptors, one for each architecture.
    pub(crate) fn manifests(&self) -> Vec<(Value, Value)> {
        let images = self.document(&self.index()["manifests"][0]);
        let descriptors = images["manifests"].as_array().unwrap();
        descriptors.iter().map(|descriptor| (descriptor.clone(), self.document(descriptor))).collect()
    }

    /// The files of an image, in a new folder.
    pub(crate) fn unpack_layer(&self, manifest: &Value) -> TempDir {
        let layer = self.path().join("layer.tar.gz");
        fs::write(&layer, self.blob(&manifest["layers"][0])).unwrap();
        let folder = tempfile::tempdir().unwrap();
        output("tar", &["-xzf".as_ref(), layer.as_ref(), "-C".as_ref(), folder.path().as_ref()]);
        folder
    }
}

/// The bill of materials that is attached to an image.
pub(crate) fn bill_of_materials(layout: &Layout, image: &Value) -> Value {
    let index = layout.index();
    let referrers = index["manifests"].as_array().unwrap().iter().filter(|entry| entry["artifactType"] == BILL_OF_MATERIALS);
    let mut referrers = referrers.map(|entry| layout.document(entry));
    let referrer = referrers.find(|referrer| referrer["subject"]["digest"] == image["digest"]).unwrap();
    layout.document(&referrer["layers"][0])
}

/// The hash in the form of the documents.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let hash = Digest::of(bytes).sha256;
    format!("sha256:{}", hash.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat())
}

#[test]
fn every_reference_leads_to_its_bytes() {
    let layout = Layout::unpack();
    for (_, manifest) in layout.manifests() {
        layout.blob(&manifest["config"]);
        assert_eq!(manifest["layers"].as_array().unwrap().len(), 1);
        assert!(layout.blob(&manifest["layers"][0]).len() <= 15_000_000);
    }
}

#[test]
fn each_image_has_a_bill_of_materials_with_the_hash_of_its_program() {
    let layout = Layout::unpack();
    for (image, manifest) in layout.manifests() {
        let bill = bill_of_materials(&layout, &image);
        let program = fs::read(layout.unpack_layer(&manifest).path().join("watchtap")).unwrap();
        let hash = bill["metadata"]["component"]["hashes"][0]["content"].as_str().unwrap();
        assert_eq!(sha256(&program), format!("sha256:{hash}"));
        assert!(bill["components"].as_array().unwrap().len() > 100, "{bill}");
    }
}
