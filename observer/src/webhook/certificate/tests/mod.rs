//! Tests of the webhook's certificate, for its parts together.

mod chance;
mod folder;
mod model;
mod own_authority;
mod races;
mod refusals;
mod scripted_server;
