//! Clients for pods: an informer of config maps with each of five client libraries, in a root filesystem of its own.
//!
//! Each is the typical use of its library inside a pod, so it finds API server, CA and token as the library does. All have the same
//! arguments: the user agent; optionally the name of a config map, which the program then gets each second. They follow the config
//! maps of their namespace, and print JSON lines:
//!
//! - `{"event":"started","library":…,"server":…}`: the version of the library, and the API server's URL as the library has it;
//! - `{"event":"synced"}` after each initial list; some informers still print its objects at this time;
//! - `{"event":"added","name":…,"resourceVersion":…}`, also `updated` and `deleted`; kube-rs and thus its program print an object that
//!   is added later as `updated`;
//! - `{"event":"store","objects":{NAME: RESOURCE-VERSION}}` after each event of the object `print-store`;
//! - `{"event":"got","name":…}` each second;
//! - `{"event":"failed","error":…}`; the program continues.

mod calls;
mod client;
mod go;
mod java;
mod javascript;
mod kube_rs;
mod pod;
mod projected_volume;
mod python;
mod root;
mod shared_libraries;
mod watchtap;

pub use calls::Calls;
pub use client::PodClient;
pub use pod::{Pod, PodSpec};
pub use projected_volume::ProjectedVolume;
pub use root::PodRoot;
pub use watchtap::watchtap_root;
