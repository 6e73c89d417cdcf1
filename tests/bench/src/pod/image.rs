//! The sidecar's program: from an image, or as the tests have built it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;
use observer_tests::node::{Image, Node};
use observer_tests::pod_client::watchtap_root;
use serde::Serialize;
use serde_json::Value;

/// The program at this path in an image.
const PROGRAM: &str = "/watchtap";

/// The sidecar to measure.
#[derive(Debug)]
pub(super) struct Sidecar {
    /// The program, which runs on this machine as well.
    program: PathBuf,
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// The folder of an OCI image layout.
    Layout { folder: PathBuf, size: Size },
    /// Files of the program: the path in a container, and the source on this machine.
    Built(Vec<(String, PathBuf)>),
}

/// The size of an image, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Size {
    /// The bytes that a node downloads: the document with its configuration, and its layers.
    pub(super) compressed: u64,
    /// The archive of its files.
    pub(super) unpacked: u64,
}

impl Sidecar {
    /// The image in an OCI layout, an archive or a folder. Files go to `folder`, where the layer is unpacked.
    pub(super) fn of_layout(layout: &Path, folder: &Path) -> Result<Self> {
        let layout = if layout.is_dir() {
            layout.to_owned()
        } else {
            let unpacked = folder.join("layout");
            let archive = File::open(layout).with_context(|| format!("cannot read the image {}", layout.display()))?;
            tar::Archive::new(archive).unpack(&unpacked).with_context(|| format!("{} is no archive", layout.display()))?;
            unpacked
        };
        let manifest = manifest(&layout)?;
        let descriptors = manifest["layers"].as_array().context("the image has no layers")?;
        let mut size = Size { compressed: length(&layout, &manifest["config"])?, unpacked: 0 };
        let program = folder.join("program");
        for descriptor in descriptors {
            size.compressed += length(&layout, descriptor)?;
            size.unpacked += unpack(&blob(&layout, descriptor)?, &program)?;
        }
        ensure!(program.is_file(), "the image has no {PROGRAM}");
        Ok(Self { program, source: Source::Layout { folder: layout, size } })
    }

    /// The program that the tests have built, which is slower and larger. So its figures only show that this bench runs.
    pub(super) fn built() -> Result<Self> {
        let files = watchtap_root()?.folders()?;
        let (_, program) = files.iter().find(|(path, _)| path == PROGRAM).context("the tests have built no watchtap")?;
        Ok(Self { program: program.clone(), source: Source::Built(files) })
    }

    /// Makes the image available to pods under this name.
    pub(super) fn load(&self, node: &Node, name: &str) -> Result<()> {
        match &self.source {
            Source::Layout { folder, .. } => node.load_layout(folder, name),
            Source::Built(_) => node.load(&self.add_to(Image::new(name)).entrypoint(&[PROGRAM])),
        }
    }

    /// Adds the program to another image.
    pub(super) fn add_to(&self, image: Image) -> Image {
        match &self.source {
            Source::Layout { .. } => image.copy(&self.program, PROGRAM),
            Source::Built(files) => files.iter().fold(image, |image, (to, from)| image.copy(from, to)),
        }
    }

    /// The size of the image; `None` without an image.
    pub(super) const fn size(&self) -> Option<Size> {
        match &self.source {
            Source::Layout { size, .. } => Some(*size),
            Source::Built(_) => None,
        }
    }

    /// Puts a sidecar with this image into the pod of a manifest, by `watchtap inject`.
    pub(super) fn inject(&self, image: &str, manifest: &str) -> Result<String> {
        let mut input = tempfile::tempfile()?;
        io::Write::write_all(&mut input, manifest.as_bytes())?;
        io::Seek::rewind(&mut input)?;
        let mut command = Command::new(&self.program);
        let output = command.args(["inject", "--image", image, "--assume-token", "-"]).stdin(Stdio::from(input)).output()?;
        ensure!(output.status.success(), "watchtap inject: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }
}

/// The manifest for this machine.
fn manifest(layout: &Path) -> Result<Value> {
    let index: Value = serde_json::from_slice(&fs::read(layout.join("index.json")).context("the image has no index.json")?)?;
    let mut document = document(layout, &index["manifests"][0])?;
    if let Some(manifests) = document["manifests"].as_array() {
        let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
        let found = manifests.iter().find(|manifest| manifest["platform"]["architecture"] == architecture);
        document = self::document(layout, found.with_context(|| format!("the image has nothing for {architecture}"))?)?;
    }
    Ok(document)
}

fn document(layout: &Path, descriptor: &Value) -> Result<Value> {
    Ok(serde_json::from_slice(&fs::read(blob(layout, descriptor)?)?)?)
}

fn blob(layout: &Path, descriptor: &Value) -> Result<PathBuf> {
    let digest = descriptor["digest"].as_str().context("a descriptor without a digest")?;
    Ok(layout.join("blobs").join(digest.replace(':', "/")))
}

fn length(layout: &Path, descriptor: &Value) -> Result<u64> {
    Ok(blob(layout, descriptor)?.metadata()?.len())
}

/// Writes the program, if this layer has it, and returns the length of the layer's archive.
fn unpack(layer: &Path, program: &Path) -> Result<u64> {
    let mut archive = tar::Archive::new(inflated(layer)?);
    for entry in archive.entries()? {
        let mut entry = entry?;
        if Path::new("/").join(entry.path()?) == Path::new(PROGRAM) {
            entry.unpack(program)?;
        }
    }
    Ok(io::copy(&mut inflated(layer)?, &mut io::sink())?)
}

#[expect(clippy::disallowed_methods, reason = "the image is of this machine, and is read in small parts")]
fn inflated(layer: &Path) -> Result<GzDecoder<File>> {
    Ok(GzDecoder::new(File::open(layer)?))
}
