//! The bill of materials of a program: a `CycloneDX` document with the packages that are linked into it, from Cargo.lock.
//!
//! It lists the standard library and musl, too. Nothing in it is random: its serial number is derived from its content.

use serde_json::{Value, json};

use super::layout::digest;
use super::packages::{Id, MUSL, Package, Packages, RustRelease, STANDARD_LIBRARY, System};
use super::source::Source;
use crate::architecture::Architecture;

pub(super) const MEDIA_TYPE: &str = "application/vnd.cyclonedx+json";

/// The package of the program itself.
const PROGRAM: &str = "observer";

/// The name that tools recognise as `CycloneDX`.
pub(super) fn file_name(architecture: Architecture) -> String {
    format!("watchtap-{}.cdx.json", architecture.name())
}

/// The document for a program with this digest.
pub(super) fn document(
    packages: &Packages,
    system: &System,
    program: &str,
    architecture: Architecture,
    source: &Source,
) -> anyhow::Result<Vec<u8>> {
    let components = packages.iter().filter(|(id, _)| id.name != PROGRAM).map(|(id, package)| component(id, package));
    let components: Vec<Value> = components.chain(of_system(system)).collect();
    let dependencies: Vec<Value> = packages.iter().map(|(id, package)| dependency(id, package)).collect();
    let mut document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": "",
        "version": 1,
        "metadata": {
            "timestamp": source.created(),
            "tools": { "components": [{ "type": "application", "name": "cargo xtask image", "version": source.version }] },
            "component": {
                "type": "application",
                "bom-ref": PROGRAM,
                "name": "watchtap",
                "version": source.version,
                "hashes": [{ "alg": "SHA-256", "content": hex(program) }],
                "licenses": [{ "expression": "Apache-2.0" }],
                "properties": [{ "name": "rust:target", "value": architecture.target() }],
            },
        },
        "components": components,
        "dependencies": dependencies,
    });
    let number = serial_number(&digest(document.to_string().as_bytes()));
    document["serialNumber"] = json!(number);
    Ok(serde_json::to_vec_pretty(&document)?)
}

fn component(id: &Id, package: &Package) -> Value {
    let mut component = json!({ "type": "library", "bom-ref": reference(id), "name": id.name, "version": id.version });
    if !package.license.is_empty() {
        component["licenses"] = json!([{ "expression": package.license }]);
    }
    // Packages of the workspace are in no registry, and so have neither a hash nor a package URL.
    if let Some(checksum) = &package.checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
        component["purl"] = json!(format!("pkg:cargo/{}@{}", id.name, id.version));
    }
    component
}

fn dependency(id: &Id, package: &Package) -> Value {
    json!({ "ref": reference(id), "dependsOn": package.depends_on.iter().map(reference).collect::<Vec<_>>() })
}

fn reference(id: &Id) -> String {
    if id.name == PROGRAM { PROGRAM.to_owned() } else { format!("{}@{}", id.name, id.version) }
}

fn of_system(System { rust: RustRelease { version, commit }, musl }: &System) -> [Value; 2] {
    let rust = format!("pkg:generic/{STANDARD_LIBRARY}@{version}?vcs_url=git%2Bhttps://github.com/rust-lang/rust%40{commit}");
    [
        json!({
            "type": "library", "bom-ref": STANDARD_LIBRARY, "name": STANDARD_LIBRARY, "version": version,
            "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            "purl": rust,
        }),
        json!({
            "type": "library", "bom-ref": MUSL, "name": MUSL, "version": musl, "licenses": [{ "expression": "MIT" }],
            "purl": format!("pkg:generic/{MUSL}@{musl}"),
        }),
    ]
}

fn hex(digest: &str) -> &str {
    digest.trim_start_matches("sha256:")
}

/// A UUID of version 8 (RFC 9562), whose bits are a hash.
fn serial_number(digest: &str) -> String {
    let hex = hex(digest);
    format!("urn:uuid:{}-{}-8{}-8{}-{}", &hex[..8], &hex[8..12], &hex[12..15], &hex[15..18], &hex[18..30])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn packages() -> Packages {
        let id = |name: &str| Id { name: name.to_owned(), version: String::from("1.0.0") };
        let package = |license: &str, checksum: Option<&str>, depends_on: &[&str]| Package {
            license: license.to_owned(),
            checksum: checksum.map(str::to_owned),
            depends_on: depends_on.iter().map(|name| id(name)).collect::<BTreeSet<_>>(),
        };
        Packages::from([
            (id("observer"), package("Apache-2.0", None, &["bytes"])),
            (id("bytes"), package("MIT", Some("1e74"), &[])),
        ])
    }

    fn made(program: &str) -> Value {
        let rust = RustRelease { version: String::from("1.95.0"), commit: String::from("598") };
        let system = System { rust, musl: String::from("1.2.5") };
        let source = Source { version: String::from("0.1.0"), revision: None, repository: None, time: 0 };
        let bytes = document(&packages(), &system, program, Architecture::Amd64, &source).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn document_names_everything_that_is_linked() {
        let document = made("sha256:00");
        let components = document["components"].as_array().unwrap();
        let names: Vec<_> = components.iter().map(|component| component["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["bytes", "rust-std", "musl"]);
        assert_eq!(components[0]["purl"], "pkg:cargo/bytes@1.0.0");
        assert_eq!(components[0]["hashes"][0]["content"], "1e74");
        assert_eq!(document["dependencies"][1], json!({ "ref": "observer", "dependsOn": ["bytes@1.0.0"] }));
        assert_eq!(document["metadata"]["component"]["hashes"][0]["content"], "00");
    }

    #[test]
    fn serial_number_depends_on_the_content_alone() {
        let [first, second, other] = ["sha256:00", "sha256:00", "sha256:01"].map(|program| made(program)["serialNumber"].clone());
        assert_eq!(first, second);
        assert_ne!(first, other);
        let number = first.as_str().unwrap().strip_prefix("urn:uuid:").unwrap();
        let lengths: Vec<usize> = number.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
    }
}
