//! Decides what changes in a pod, from its value alone: no text, no files.

mod automount;
mod containers;
mod decide;
mod env_from;
mod environment;
mod mounts;
mod other_clients;
mod ports;
mod quality_of_service;
pub(super) mod reasons;
mod referenced;
mod refused;
mod sidecar;
mod token_volumes;
mod volumes;
mod warned;

pub(super) use containers::incomplete;
pub(super) use decide::{Decision, Subject, decide};
pub(super) use environment::is_led_variable as is_added_variable;
pub(super) use environment::is_led_variable as is_replaced_variable;
pub(super) use environment::{ADDRESS, COVERS_LOOPBACK, LOOPBACK, NO_PROXY, PROXIES};
pub(super) use mounts::{is_added_mount, trust as trust_mount};
pub(super) use other_clients::{WORD_ENDS, WRITERS};
pub(super) use ports::{FIRST_EPHEMERAL_PORT, Ports, WITHOUT_TLS};
pub(super) use quality_of_service::{CLASS, Class, resources_in};
pub(crate) use referenced::Referenced;
pub(super) use refused::DIRECTIVES;
pub(super) use sidecar::{container_argument, metrics_argument, sidecar};
pub(super) use token_volumes::FILES;
pub(super) use volumes::{CLUSTER_CA, OWN_VOLUMES, TOKEN_VOLUME, added as added_volumes, is_own_volume};
