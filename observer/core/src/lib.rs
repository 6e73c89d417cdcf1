//! The pure core of watchtap: bytes of Kubernetes API connections in, verdicts and events out.
//!
//! Nothing here does I/O, reads a clock, waits, or grows without a bound; time, bytes and configuration are arguments. The same
//! inputs give the same outputs, whatever the chunking of the bytes. Strange input yields a value ([`http::Event::Malformed`],
//! `Unknown` with a reason), never a panic.
//!
//! The modules stand on floors. A module uses modules of lower floors only (a house rule tests it). From the bottom:
//! - 0: [`k8s`], `left_out`, [`metrics`], [`quantity`], `thresholds`, [`time`], [`redacted`], `sorted_map`
//! - 1: [`http`], [`wire`], [`routing`]
//! - 2: [`observation`]
//! - 3: [`exchange`], [`logs`]
//! - 4: [`reflector`], [`verification`]
//! - 5: [`capture`], [`storm`]
//! - 6: `finding_kind`
//! - 7: [`series`]
//! - 8: [`observer`]

#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing, clippy::string_slice)]
#![cfg_attr(test, allow(clippy::indexing_slicing, clippy::string_slice, reason = "a test that indexes wrongly should fail loudly"))]

pub mod capture;
pub mod exchange;
mod finding_kind;
pub mod http;
pub mod k8s;
mod left_out;
pub mod logs;
pub mod metrics;
pub mod observation;
pub mod observer;
pub mod quantity;
pub mod redacted;
pub mod reflector;
pub mod routing;
pub mod series;
mod sorted_map;
pub mod storm;
mod thresholds;
pub mod time;
pub mod verification;
pub mod wire;
