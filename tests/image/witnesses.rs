//! Tools of others read the image.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::layout::{Layout, NAME, archive};
use crate::program::output;

#[test]
fn skopeo_reads_platform_user_and_labels() {
    let reference = format!("oci-archive:{}:{NAME}", archive().display());
    let image: Value = serde_json::from_str(&output("skopeo", &["inspect".as_ref(), reference.as_ref()])).unwrap();
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    assert_eq!((&image["Os"], &image["Architecture"]), (&json!("linux"), &json!(architecture)));
    let labels = &image["Labels"];
    assert_eq!(labels["org.opencontainers.image.title"], "watchtap");
    assert_eq!(labels["org.opencontainers.image.version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(labels["org.opencontainers.image.created"].as_str(), image["Created"].as_str());
    let config = output("skopeo", &["inspect".as_ref(), "--config".as_ref(), reference.as_ref()]);
    let config: Value = serde_json::from_str(&config).unwrap();
    assert_eq!((&config["config"]["User"], &config["config"]["Entrypoint"]), (&json!("59643:59643"), &json!(["/watchtap"])));
}

#[test]
fn umoci_unpacks_the_program_and_licences_alone() {
    let layout = Layout::unpack();
    let image = format!("{}:{NAME}", layout.path().display());
    let bundle = tempfile::tempdir().unwrap();
    let bundle = bundle.path().join("bundle");
    let rootless = "--rootless";
    output("umoci", &["unpack".as_ref(), rootless.as_ref(), "--image".as_ref(), image.as_ref(), bundle.as_ref()]);
    let files: BTreeMap<String, u32> = fs::read_dir(bundle.join("rootfs"))
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().permissions().mode() & 0o7777)
        })
        .collect();
    let expected = [("LICENSE", 0o644), ("THIRD-PARTY-LICENSES", 0o644), ("watchtap", 0o755)];
    assert_eq!(files, expected.map(|(name, mode)| (name.to_owned(), mode)).into());
    let bundle: Value = serde_json::from_slice(&fs::read(bundle.join("config.json")).unwrap()).unwrap();
    assert_eq!(bundle["process"]["args"], json!(["/watchtap"]));
}
