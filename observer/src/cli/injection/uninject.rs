//! `watchtap uninject`.

use std::process::ExitCode;

use clap::Args;

use super::edit_manifests::edit_manifests;
use super::manifest_flags::ManifestFlags;

/// Takes watchtap out of manifests again: restores the bytes from before `watchtap inject`.
///
/// An annotation of the pod records what was injected. Other edits since then stay. If a part that was injected was edited, the object
/// is refused, because that edit would be lost (`--discard-edits`).
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  watchtap uninject injected.yaml > original.yaml
  kubectl get deployment web -o yaml | watchtap uninject | kubectl replace -f -
  watchtap uninject --in-place manifests/

EXIT CODES:
  0  no object has the sidecar any more
  1  an input could not be read, or an output not be written; without
     --in-place, no manifest was written
  2  usage error
  3  an object was refused and passes unchanged; everything else was done")]
pub(in crate::cli) struct Uninject {
    #[command(flatten)]
    manifests: ManifestFlags,
}

impl Uninject {
    pub(in crate::cli) fn run(&self) -> ExitCode {
        edit_manifests(&self.manifests, &[], &|manifest, _| manifest.uninject(self.manifests.edits()))
    }
}
