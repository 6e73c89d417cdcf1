//! The command `cargo xtask image`: builds the programs, and writes the image and its bills of materials.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, ensure};
use serde_json::json;

use super::architecture::Architecture;
use super::c_compiler::CCompiler;
use super::layer::{File, Files, Mode};
use super::layout::{Layout, with_suffix};
use super::manifest::{Image, annotations};
use super::source::Source;
use super::{build, check, licenses, packages, sbom};
use crate::workspace;

/// Build a container image of watchtap: a static program from scratch, without a shell, as an OCI image layout.
///
/// The same commit makes the same bytes, with the same release of Rust. The C compiler is downloaded with pip if it is missing, and
/// standard libraries are installed with rustup. `skopeo copy --all oci-archive:FILE:NAME docker://…` publishes the image,
/// `ctr -n k8s.io images import FILE` loads it into containerd. A bill of materials (`CycloneDX`) is written beside it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to write the image: an archive if the name ends in `.tar`, else a folder [default: target/image/watchtap-VERSION.tar]
    #[arg(long, value_name = "PATH")]
    output: Option<PathBuf>,

    /// Architecture of the image; repeat it for several [default: all that can be built here]
    #[arg(long = "architecture", value_enum, value_name = "ARCHITECTURE")]
    architectures: Vec<Architecture>,

    /// Name of the image in the layout [default: localhost/watchtap:VERSION]
    #[arg(long, value_name = "NAME:TAG")]
    name: Option<String>,

    /// Folder of the C compiler, installed there if missing (Python 3 with pip, 410 MB) [default: target/image/zig]
    #[arg(long, value_name = "FOLDER")]
    compiler: Option<PathBuf>,

    /// Then build the same commit again in another folder, with another home, umask and time zone and nothing built yet, and compare
    #[arg(long)]
    check: bool,
}

impl Args {
    /// The image for tests on this machine.
    pub(super) fn for_tests() -> Self {
        Self {
            output: Some(workspace::target().join("image/test.tar")),
            architectures: Architecture::ALL.into_iter().filter(|architecture| architecture.is_of_this_machine()).collect(),
            name: Some(String::from("localhost/watchtap:1")),
            compiler: None,
            check: false,
        }
    }
}

/// Returns a failure if `--check` finds a difference.
pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    if args.check {
        check::possible(&Source::of_workspace()?)?;
    }
    let written = write(args)?;
    println!("\n{}  {}  {}", written.output.display(), written.name, written.digest);
    written.images.iter().for_each(print_image);
    if !args.check {
        return Ok(ExitCode::SUCCESS);
    }
    let architectures: Vec<Architecture> = written.images.iter().map(|image| image.architecture).collect();
    check::execute(&written.compiler, &written.output, &architectures, &written.name)
}

/// An image on disk.
pub(super) struct Written {
    pub(super) output: PathBuf,
    name: String,
    digest: String,
    images: Vec<Image>,
    /// The folder of the compiler.
    compiler: PathBuf,
}

/// Builds the programs, and writes the image and its bills of materials.
pub(super) fn write(args: &Args) -> anyhow::Result<Written> {
    let source = Source::of_workspace()?;
    let own = workspace::target().join("image");
    let output = args.output.clone().unwrap_or_else(|| own.join(format!("watchtap-{}.tar", source.version)));
    let name = args.name.clone().unwrap_or_else(|| format!("localhost/watchtap:{}", source.version));
    ensure!(is_tagged(&name), "--name {name} has no tag: write {name}:TAG");
    let architectures = architectures(&args.architectures)?;
    let folder = std::path::absolute(args.compiler.clone().unwrap_or_else(|| own.join("zig")))?;
    let compiler = CCompiler::found_or_installed(&folder)?;
    let mut layout = Layout::default();
    let mut images = Vec::new();
    for architecture in architectures {
        let program = build::program(architecture, &compiler, &source)?;
        let materials = sbom::of(&program, architecture, &source)?;
        let begun = Instant::now();
        images.push(Image::add(&mut layout, architecture, &source, &files(architecture, program)?, &materials)?);
        let beside = materials_beside(&output, architecture);
        fs::create_dir_all(beside.parent().unwrap_or(Path::new(".")))?;
        fs::write(&beside, materials).with_context(|| format!("cannot write {}", beside.display()))?;
        println!("== {}: layer compressed in {:.1} s", architecture.name(), begun.elapsed().as_secs_f64());
    }
    let entries: Vec<_> = images.iter().map(Image::entry).collect();
    let index = layout.add_index(&entries, &annotations(&source));
    // containerd reads the second name, and all other tools the first.
    let names = json!({ "org.opencontainers.image.ref.name": name, "io.containerd.image.name": name });
    layout.list_first(index.json_with([("annotations", names)]));
    layout.write(&output, source.time)?;
    Ok(Written { output, name, digest: index.digest, images, compiler: folder })
}

/// Where the bill of materials for `architecture` is written: beside the image, with its name.
pub(super) fn materials_beside(output: &Path, architecture: Architecture) -> PathBuf {
    let is_archive = output.extension().is_some_and(|extension| extension == "tar");
    let stem = if is_archive { output.with_extension("") } else { output.to_path_buf() };
    with_suffix(&stem, &format!("-{}.cdx.json", architecture.name()))
}

/// The architectures to build, in the order of the index. Prints those that cannot be built, and fails if one of them was named.
fn architectures(named: &[Architecture]) -> anyhow::Result<Vec<Architecture>> {
    let mut possible = Vec::new();
    for architecture in Architecture::ALL {
        if !named.is_empty() && !named.contains(&architecture) {
            continue;
        }
        match build::prepare(architecture) {
            Ok(()) => possible.push(architecture),
            Err(why) if named.is_empty() => println!("== {}: left out, {why}", architecture.name()),
            Err(why) => anyhow::bail!("{} cannot be built: {why}", architecture.name()),
        }
    }
    ensure!(!possible.is_empty(), "no architecture can be built here");
    Ok(possible)
}

fn files(architecture: Architecture, program: Vec<u8>) -> anyhow::Result<Files> {
    let readable = |content: Vec<u8>| File { mode: Mode::Readable, content };
    let license = fs::read(workspace::root().join("LICENSE")).context("cannot read LICENSE")?;
    let others = licenses::texts(&packages::linked(architecture)?)?;
    Ok(Files::from([
        (String::from("LICENSE"), readable(license)),
        (String::from("THIRD-PARTY-LICENSES"), readable(others.into_bytes())),
        (String::from("watchtap"), File { mode: Mode::Executable, content: program }),
    ]))
}

/// Whether a name of an image ends in a tag. A colon before the last slash is that of a port.
fn is_tagged(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or_default();
    last.split_once(':').is_some_and(|(repository, tag)| !repository.is_empty() && !tag.is_empty())
}

fn print_image(image: &Image) {
    let megabytes = |bytes: usize| format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10);
    println!(
        "  {}  {} compressed, {} unpacked  {}",
        image.architecture.name(),
        megabytes(image.layer.size),
        megabytes(image.unpacked),
        image.manifest.digest
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_needs_a_tag() {
        assert!(is_tagged("localhost/watchtap:1") && is_tagged("host.example:5000/a/watchtap:0.1.0"));
        assert!(!is_tagged("host.example:5000/watchtap") && !is_tagged("watchtap") && !is_tagged("watchtap:"));
    }

    #[test]
    fn bill_of_materials_has_the_name_of_its_image() {
        for (output, expected) in [("a/watchtap-0.1.0.tar", "a/watchtap-0.1.0-amd64.cdx.json"), ("a/b", "a/b-amd64.cdx.json")] {
            assert_eq!(materials_beside(Path::new(output), Architecture::Amd64), Path::new(expected));
        }
    }
}
