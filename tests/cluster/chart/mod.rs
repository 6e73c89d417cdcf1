//! The chart of `deploy/chart`: its values, its objects on a real API server, and its releases by Helm 3 and Helm 4.

mod admission;
mod certificate_chain;
mod custom_resources;
mod kustomize;
mod objects;
mod probes;
mod release;
mod schema;
mod value_sets;
mod values;
