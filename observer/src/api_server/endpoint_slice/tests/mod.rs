//! Tests of the one request, and the API server that they and other tests use.

mod requests;
mod scripted_server;

pub(crate) use scripted_server::{Reply, ScriptedServer};
