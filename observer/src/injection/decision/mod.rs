//! Decides what changes in a pod, from its value alone: no text, no files.

mod automount;
mod containers;
mod decide;
mod environment;
mod mounts;
mod other_clients;
mod ports;
mod quality_of_service;
mod refused;
mod sidecar;
mod volumes;
mod warned;

pub(super) use automount::ServiceAccounts;
pub(super) use decide::{Decision, Subject, decide};
pub(super) use environment::is_led_variable as is_added_variable;
pub(super) use environment::is_led_variable as is_replaced_variable;
pub(super) use mounts::is_added_mount;
pub(super) use volumes::is_own_volume;
