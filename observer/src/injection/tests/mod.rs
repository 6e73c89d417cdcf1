//! Tests of injection: manifests in, manifests out.

mod admission;
mod check;
mod flags;
mod flags_again;
mod hostile;
mod layout;
mod notation;
mod other_notation;
mod passed;
mod processor_time;
mod properties;
mod refusals;
mod uninjected;
mod warnings;
