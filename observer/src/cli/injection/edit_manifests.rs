//! The work of both commands: read everything, edit everything, and only then write.

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};

use super::inputs::{self, Input};
use super::manifest_flags::ManifestFlags;
use super::outputs;
use crate::cli::output::Format;
use crate::injection::{Accounts, Edited, Manifest, NotYaml, Outcome};
use crate::printable::{HeldStderr, print_error, print_message};
use crate::view::{InjectedFile, injection_json, injection_text};

/// Exit code if an object was refused.
const REFUSED: u8 = 3;

/// Edits one file.
pub(super) type Edit<'e> = &'e dyn Fn(&Manifest<'_>, &mut Accounts) -> Edited;

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
    let mut accounts = Accounts::default();
    let manifests =
        inputs.iter().map(|input| Manifest::read(&input.text, &mut accounts).map_err(|error| unreadable(input, &error)));
    let manifests = manifests.collect::<Result<Vec<_>>>()?;
    let edited: Vec<Edited> = manifests.iter().map(|manifest| edit(manifest, &mut accounts)).collect();
    write(flags, &inputs, &edited)?;
    let (files, outcomes) = report(&inputs, edited);
    let report = match flags.format {
        Format::Text => injection_text(&files),
        Format::Json => injection_json(&files)?,
    };
    HeldStderr::print(&report).context("cannot write the report")?;
    let missing: Vec<&str> = containers.iter().map(String::as_str).filter(|name| !is_led(&outcomes, name)).collect();
    for name in &missing {
        print_message(format_args!("no pod was injected for --container {name}: check the name"));
    }
    Ok(missing.is_empty() && !outcomes.iter().any(|outcome| matches!(outcome, Outcome::Refused(_))))
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

fn report(inputs: &[Input], edited: Vec<Edited>) -> (Vec<InjectedFile>, Vec<Outcome>) {
    let files = inputs.iter().zip(edited).map(|(input, edited)| InjectedFile {
        name: input.name.clone(),
        objects: edited.objects,
        others: edited.others,
    });
    let files: Vec<InjectedFile> = files.collect();
    let outcomes = files.iter().flat_map(|file| file.objects.iter().map(|object| object.outcome.clone())).collect();
    (files, outcomes)
}

fn is_led(outcomes: &[Outcome], name: &str) -> bool {
    outcomes.iter().any(|outcome| match outcome {
        Outcome::Injected { led, .. } | Outcome::UpToDate { led, .. } => led.iter().any(|led| led.container == name),
        Outcome::Uninjected | Outcome::NotInjected | Outcome::NotSelected | Outcome::Refused(_) => false,
    })
}
