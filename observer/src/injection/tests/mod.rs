//! Tests of injection: manifests in, manifests out.

mod check;

mod hostile;
mod layout;
mod notation;
mod properties;
mod refusals;
mod uninjected;
mod warnings;
