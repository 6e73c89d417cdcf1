//! The certificate by which the API server recognises the webhook.
//!
//! Without cert-manager, the webhook has a certificate authority of its own, in one Secret that all replicas share. Each replica
//! issues its leaf certificate itself, and keeps that in memory. The authority's certificate is the `caBundle` of the
//! `MutatingWebhookConfiguration`, by server-side apply. With cert-manager, certificate and key are files, and `caBundle` is
//! cert-manager's.

mod config;
mod service_name;

mod certificates;

mod agreement;
mod authority;
mod bundle;
mod keeper;
mod leaf;
mod objects;
mod pace;

mod failure;
mod identity;
mod pod_access;
mod requests;

mod folder;
mod report;
mod served;

pub use certificates::Certificates;
pub use config::{Config, Source};
pub use pace::Pace;
pub use pod_access::PodAccess;
pub use service_name::{NotAService, ServiceName};

#[cfg(test)]
mod tests;
