//! The documents of an image: configuration, manifest, and the manifest that attaches a bill of materials (opencontainers/image-spec,
//! `config.md`, `manifest.md`, `annotations.md`).

use serde_json::{Value, json};

use super::layer::{Files, Layer};
use super::layout::{Descriptor, Layout, digest};
use super::sbom;
use super::source::Source;
use crate::architecture::Architecture;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
/// The configuration of manifests that are no images.
const EMPTY: &str = "application/vnd.oci.empty.v1+json";

/// The user and group that the sidecar has in a pod (`observer/src/pod_layout.rs` has the reason). They are numbers, because only then
/// can the kubelet verify `runAsNonRoot`.
const USER: &str = "59643:59643";

/// The largest compressed layer.
const MOST_BYTES: usize = 15_000_000;

/// An image for one platform in a layout.
pub(crate) struct Image {
    pub(super) architecture: Architecture,
    pub(super) manifest: Descriptor,
    pub(super) layer: Descriptor,
    pub(super) unpacked: usize,
}

impl Image {
    /// Adds the image with these files to `layout`, and its bill of materials as a referrer.
    pub(super) fn add(
        layout: &mut Layout,
        architecture: Architecture,
        source: &Source,
        files: &Files,
        materials: &[u8],
    ) -> anyhow::Result<Self> {
        let Layer { tar, compressed } = Layer::of(files, source.time)?;
        anyhow::ensure!(
            compressed.len() <= MOST_BYTES,
            "the layer for {} has {} bytes, more than {MOST_BYTES}: find what has grown (docs/benches.md has the sizes)",
            architecture.name(),
            compressed.len()
        );
        let config = layout.add_json(CONFIG, &config(architecture, source, &digest(&tar)));
        let layer = layout.add(LAYER, compressed);
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": config.json(),
            "layers": [layer.json()],
            "annotations": annotations(source),
        });
        let manifest = layout.add_json(MANIFEST, &manifest);
        let referrer = add_materials(layout, architecture, source, &manifest, materials);
        layout.list(referrer);
        Ok(Self { architecture, manifest, layer, unpacked: tar.len() })
    }

    /// Its entry in an index.
    pub(super) fn entry(&self) -> Value {
        let platform = json!({ "architecture": self.architecture.name(), "os": "linux" });
        self.manifest.json_with([("platform", platform)])
    }
}

/// The labels of an image, which are its annotations, too: registries read the one or the other.
pub(super) fn annotations(source: &Source) -> Value {
    let mut labels = json!({
        "org.opencontainers.image.title": "watchtap",
        "org.opencontainers.image.description":
            "Shows live which layer of the Kubernetes API server answers each list and watch, and why clients relist.",
        "org.opencontainers.image.version": source.version,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.created": source.created(),
    });
    let known = [("revision", &source.revision), ("source", &source.repository)];
    for (name, value) in known.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
        labels[format!("org.opencontainers.image.{name}")] = json!(value);
    }
    labels
}

fn config(architecture: Architecture, source: &Source, layer: &str) -> Value {
    json!({
        "created": source.created(),
        "architecture": architecture.name(),
        "os": "linux",
        "config": { "User": USER, "Entrypoint": ["/watchtap"], "WorkingDir": "/", "Labels": annotations(source) },
        "rootfs": { "type": "layers", "diff_ids": [layer] },
        "history": [{ "created": source.created(), "created_by": "cargo xtask image" }],
    })
}

/// Attaches the bill of materials to an image: a manifest whose subject is the image. Returns its entry in the index of the layout.
fn add_materials(layout: &mut Layout, architecture: Architecture, source: &Source, image: &Descriptor, materials: &[u8]) -> Value {
    let empty = layout.add(EMPTY, b"{}".to_vec());
    let content = layout.add(sbom::MEDIA_TYPE, materials.to_vec());
    let title = json!({ "org.opencontainers.image.title": sbom::file_name(architecture) });
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "artifactType": sbom::MEDIA_TYPE,
        "config": empty.json(),
        "layers": [content.json_with([("annotations", title)])],
        "subject": image.json(),
        "annotations": { "org.opencontainers.image.created": source.created() },
    });
    layout.add_json(MANIFEST, &manifest).json_with([("artifactType", json!(sbom::MEDIA_TYPE))])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Source {
        Source { version: String::from("1.2.3"), revision: Some(String::from("abc")), repository: None, time: 0 }
    }

    #[test]
    fn container_has_no_rights_no_shell_and_no_environment() {
        let config = config(Architecture::Arm64, &source(), "sha256:1");
        assert_eq!(config["config"]["User"], USER);
        assert_eq!(config["config"]["Entrypoint"], json!(["/watchtap"]));
        assert_eq!(config["config"].get("Env"), None);
        assert_eq!((&config["architecture"], &config["created"]), (&json!("arm64"), &json!("1970-01-01T00:00:00Z")));
    }

    #[test]
    fn user_is_that_of_the_pod_layout() {
        let layout = std::fs::read_to_string(crate::workspace::root().join("observer/src/pod_layout.rs")).unwrap();
        let (user, group) = USER.split_once(':').unwrap();
        assert_eq!(user, group);
        assert!(layout.contains(&format!("\npub const USER: u32 = {user};\n")), "{USER}");
    }

    #[test]
    fn unknown_source_has_no_label() {
        let labels = annotations(&source());
        assert_eq!(labels["org.opencontainers.image.revision"], "abc");
        assert_eq!(labels.get("org.opencontainers.image.source"), None);
    }

    #[test]
    fn bill_of_materials_refers_to_its_image() {
        let mut layout = Layout::default();
        let image = Image::add(&mut layout, Architecture::Amd64, &source(), &Files::new(), b"{}").unwrap();
        let entry = image.entry();
        assert_eq!(entry["platform"], json!({ "architecture": "amd64", "os": "linux" }));
        let subject = image.manifest.clone();
        let referrer = add_materials(&mut layout, Architecture::Amd64, &source(), &subject, b"{}");
        assert_eq!(referrer["artifactType"], sbom::MEDIA_TYPE);
        assert_eq!(entry["digest"], subject.json()["digest"]);
    }
}
