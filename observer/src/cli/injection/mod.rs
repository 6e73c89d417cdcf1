//! The commands `inject` and `uninject`: their inputs, their outputs and their exit codes.

mod edit_manifests;
mod inject;
mod inputs;
mod manifest_flags;
mod outputs;
mod sidecar_flags;
mod uninject;

pub(super) use inject::Inject;
pub(super) use sidecar_flags::SidecarFlags;
pub(super) use uninject::Uninject;
