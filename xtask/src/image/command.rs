//! The command `cargo xtask image`: builds the programs, and writes the image and its bills of materials.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, ensure};
use serde_json::json;

use super::check;
use super::layout::{Layout, with_suffix};
use super::manifest::{Image, annotations};
use super::programs::{self, Program};
use super::source::Source;
use crate::architecture::Architecture;
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

    /// Then build the same commit again, and compare: nothing is built yet there, and folder, home, umask, clock and time zone differ
    #[arg(long)]
    check: bool,
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
struct Written {
    output: PathBuf,
    name: String,
    digest: String,
    images: Vec<Image>,
    /// The folder of the compiler.
    compiler: PathBuf,
}

/// Builds the programs, and writes the image and its bills of materials.
fn write(args: &Args) -> anyhow::Result<Written> {
    let source = Source::of_workspace()?;
    let output = args.output.clone().unwrap_or_else(|| own_folder().join(format!("watchtap-{}.tar", source.version)));
    let name = args.name.clone().unwrap_or_else(|| format!("localhost/watchtap:{}", source.version));
    ensure!(is_tagged(&name), "--name {name} has no tag: write {name}:TAG");
    let compiler = compiler_folder(args.compiler.as_deref())?;
    let programs = programs::build(&args.architectures, &compiler, &source)?;
    let (digest, images) = assemble(&programs, &source, &name, &output)?;
    Ok(Written { output, name, digest, images, compiler })
}

/// Writes the image with these programs and the bills of materials beside it. Returns the digest of the image.
pub(crate) fn assemble(programs: &[Program], source: &Source, name: &str, output: &Path) -> anyhow::Result<(String, Vec<Image>)> {
    let mut layout = Layout::default();
    let mut images = Vec::new();
    for program in programs {
        let begun = Instant::now();
        let Program { architecture, materials, .. } = program;
        images.push(Image::add(&mut layout, *architecture, source, &program.files()?, materials)?);
        let beside = materials_beside(output, *architecture);
        fs::create_dir_all(beside.parent().unwrap_or(Path::new(".")))?;
        fs::write(&beside, materials).with_context(|| format!("cannot write {}", beside.display()))?;
        println!("== {}: layer compressed in {:.1} s", architecture.name(), begun.elapsed().as_secs_f64());
    }
    let entries: Vec<_> = images.iter().map(Image::entry).collect();
    let index = layout.add_index(&entries, &annotations(source));
    // containerd reads the second name, and all other tools the first.
    let names = json!({ "org.opencontainers.image.ref.name": name, "io.containerd.image.name": name });
    layout.list_first(index.json_with([("annotations", names)]));
    layout.write(output, source.time)?;
    Ok((index.digest, images))
}

fn own_folder() -> PathBuf {
    workspace::target().join("image")
}

/// The folder of the C compiler.
pub(crate) fn compiler_folder(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    Ok(std::path::absolute(named.map_or_else(|| own_folder().join("zig"), Path::to_path_buf))?)
}

/// Where the bill of materials for `architecture` is written: beside the image, with its name.
pub(crate) fn materials_beside(output: &Path, architecture: Architecture) -> PathBuf {
    let is_archive = output.extension().is_some_and(|extension| extension == "tar");
    let stem = if is_archive { output.with_extension("") } else { output.to_path_buf() };
    with_suffix(&stem, &format!("-{}.cdx.json", architecture.name()))
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
