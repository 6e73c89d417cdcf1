//! The work of both commands: read everything, edit everything, and only then write.

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};

use super::inputs::{self, Input};
use super::manifest_flags::ManifestFlags;
use super::outputs;
use crate::cli::output::Format;
use crate::injection::{Edited, Manifest, NotYaml, Outcome, Referenced};
use crate::printable::{HeldStderr, print_error};
use crate::view::{InjectedFile, injection_json, injection_text};

/// Exit code if an object was refused.
const REFUSED: u8 = 3;

/// Edits one file.
pub(super) type Edit<'e> = &'e dyn Fn(&Manifest<'_>, &Referenced) -> Edited;

/// Edits the manifests that the flags name. `containers` are the names of which each must be found in some pod.
pub(super) fn edit_manifests(flags: &ManifestFlags, containers: &[String], edit: Edit<'_>) -> ExitCode {
    match run(flags, containers, edit) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(REFUSED),
        Err(error) => {
            print_error(&error);
            ExitCode::FAILURE
        }
    }
}

/// Whether everything was done.
fn run(flags: &ManifestFlags, containers: &[String], edit: Edit<'_>) -> Result<bool> {
    let inputs = inputs::read(&flags.inputs)?;
    anyhow::ensure!(
        !(flags.in_place && inputs.iter().any(|input| input.path.is_none())),
        "stdin has no place to write to: leave out --in-place"
    );
    let mut referenced = Referenced::default();
    let manifests =
        inputs.iter().map(|input| Manifest::read(&input.text, &mut referenced).map_err(|error| unreadable(input, &error)));
    let manifests = manifests.collect::<Result<Vec<_>>>()?;
    let edited: Vec<Edited> = manifests.iter().map(|manifest| edit(manifest, &referenced)).collect();
    write(flags, &inputs, &edited)?;
    let files = report(&inputs, edited);
    let objects = || files.iter().flat_map(|file| &file.objects);
    // A refused object has the container, too: its name is right.
    let is_found = |name: &&str| objects().any(|object| object.containers.iter().any(|container| container == name));
    let missing: Vec<&str> = containers.iter().map(String::as_str).filter(|name| !is_found(name)).collect();
    let report = match flags.format {
        Format::Text => injection_text(&files, &missing, flags.check),
        Format::Json => injection_json(&files, &missing)?,
    };
    HeldStderr::print(&report).context("cannot write the report")?;
    Ok(missing.is_empty() && !objects().any(|object| matches!(object.outcome, Outcome::Refused(_))))
}

fn unreadable(input: &Input, error: &NotYaml) -> anyhow::Error {
    let hint = if input.text.contains("{{") { "; if this is a template, render it first (helm template)" } else { "" };
    anyhow!("{}:{}: {error}{hint}; nothing was written", input.name, error.line)
}

fn write(flags: &ManifestFlags, inputs: &[Input], edited: &[Edited]) -> Result<()> {
    if flags.check {
        return Ok(());
    }
    if !flags.in_place {
        let texts: Vec<String> = edited.iter().map(|edited| edited.text.clone()).collect();
        return outputs::to_stdout(&texts).context("cannot write to stdout");
    }
    for (input, edited) in inputs.iter().zip(edited).filter(|(input, edited)| input.text != edited.text) {
        let path = input.path.as_deref().unwrap_or_else(|| std::path::Path::new(""));
        outputs::in_place(path, &edited.text)?;
    }
    Ok(())
}

fn report(inputs: &[Input], edited: Vec<Edited>) -> Vec<InjectedFile> {
    let files = inputs.iter().zip(edited).map(|(input, edited)| InjectedFile {
        name: input.name.clone(),
        objects: edited.objects,
        others: edited.others,
    });
    files.collect()
}
