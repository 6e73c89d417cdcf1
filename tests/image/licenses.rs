//! The licences in the image.

use std::fs;

use serde_json::Value;

use crate::layout::{Layout, bill_of_materials};

#[test]
fn each_component_of_the_bill_of_materials_has_a_licence() {
    let layout = Layout::unpack();
    let (image, manifest) = layout.manifests().remove(0);
    let bill = bill_of_materials(&layout, &image);
    let licenses = fs::read_to_string(layout.unpack_layer(&manifest).path().join("THIRD-PARTY-LICENSES")).unwrap();
    let text = |component: &Value, member: &str| component[member].as_str().unwrap().to_owned();
    for component in bill["components"].as_array().unwrap() {
        let component = format!("{} {}", text(component, "name"), text(component, "version"));
        let is_owner = |line: &str| line == component || line.starts_with(&format!("{component},"));
        assert!(licenses.lines().any(is_owner), "{component} has no licence");
    }
}

/// Code that is in the program, and in a package of another name or in none.
#[test]
fn code_of_others_within_packages_has_its_licence() {
    let layout = Layout::unpack();
    let (_, manifest) = layout.manifests().remove(0);
    let licenses = fs::read_to_string(layout.unpack_layer(&manifest).path().join("THIRD-PARTY-LICENSES")).unwrap();
    for (code, words) in [
        ("mimalloc", "Microsoft Corporation, Daan Leijen"),
        ("musl", "Rich Felker"),
        ("the standard library", "The Rust Project Developers"),
        ("a package of the standard library", "hashbrown-"),
        ("libunwind", "LLVM Exceptions to the Apache 2.0 License"),
        ("the lock of tracing", "Mathijs van de Nes"),
        ("fiat-crypto in AWS-LC", "the fiat-crypto authors"),
        ("kube, which has no file of its licence", "kube-core 5"),
    ] {
        assert!(licenses.contains(words), "{code}: no {words:?}");
    }
}
