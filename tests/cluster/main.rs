//! Tests with a real API server.
//!
//! They need `go` or `KUBEBUILDER_ASSETS`, and also kubectl and `setpriv`. If one is missing, they fail with a message. The modules
//! are marked as tests so that their helper functions may unwrap, too.

#[cfg(test)]
mod auth_provider_kubectl;
#[cfg(test)]
mod chart;
#[cfg(test)]
mod churn_kubectl;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod connects;
#[cfg(test)]
mod demo_documents;
#[cfg(test)]
mod demo_kubectl;
#[cfg(test)]
mod demo_parity;
#[cfg(test)]
mod demo_patches;
#[cfg(test)]
mod demo_protobuf;
#[cfg(test)]
mod direct_dials;
#[cfg(test)]
mod encodings;
#[cfg(test)]
mod eventually;
#[cfg(test)]
mod evidence;
#[cfg(test)]
mod exec_plugins;
#[cfg(test)]
mod exec_plugins_kubectl;
#[cfg(test)]
mod forward_proxies;
#[cfg(test)]
mod h2_watch;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod hpack;
#[cfg(test)]
mod impersonation_kubectl;
#[cfg(test)]
mod injection;
#[cfg(test)]
mod ipv6;
#[cfg(test)]
mod kube_rs;
#[cfg(test)]
mod kube_rs_contexts;
#[cfg(test)]
mod kubectl_contexts;
#[cfg(test)]
mod kubectl_exec;
#[cfg(test)]
mod learned_profile;
#[cfg(test)]
mod live_audit_log;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod minors_kubectl;
#[cfg(test)]
mod pod_layout;
#[cfg(test)]
mod refusal;
#[cfg(test)]
mod session_in_pod_kubectl;
#[cfg(test)]
mod silent_upstream_kubectl;
#[cfg(test)]
mod terminal_plugin_kubectl;
#[cfg(test)]
mod transparency_kubectl;
#[cfg(test)]
mod verify;
#[cfg(test)]
mod via_kubectl;
#[cfg(test)]
mod webhook;
#[cfg(test)]
mod webhook_certificate;
#[cfg(test)]
mod webhook_kubectl;
#[cfg(test)]
mod websocket;
