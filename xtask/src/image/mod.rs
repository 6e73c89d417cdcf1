//! `cargo xtask image`: a reproducible container image of watchtap, as an OCI image layout.
//!
//! No container tool is needed: an image is a few JSON documents, and a tar with one static program and texts. The documents follow the
//! OCI image specification 1.1 (opencontainers/image-spec: `image-layout.md`, `manifest.md`, `config.md`, `annotations.md`).

mod command;
mod for_tests;

mod build;
mod c_compiler;
mod programs;
mod source;
mod static_program;

mod gzip;
mod layer;
mod layout;
mod manifest;

mod licenses;
mod packages;
mod sbom;

mod check;
mod clock;

#[cfg(test)]
mod scratch;

pub(crate) use check::{possible as second_build_possible, second_build};
pub(crate) use command::{Args, assemble, compiler_folder, execute};
pub(crate) use for_tests::{TESTS_PROGRAM_VARIABLE, TESTS_VARIABLE, arm64_program_for_tests, for_tests};
pub(crate) use gzip::compress;
pub(crate) use layer::{File, Files, Mode, tar};
pub(crate) use layout::digest;
pub(crate) use programs::{Program, build as build_programs};
#[cfg(test)]
pub(crate) use scratch::Scratch;
pub(crate) use source::Source;
