//! Canaries: a secret in every place where one can be, and none of them anywhere but in the client's kubeconfig.
//!
//! [`secrets`] says which there are, [`traffic`] carries them through watchtap. [`commands`] runs every command and looks at all that it
//! leaves, [`debug_output`] at what the core's types would show of themselves; [`coverage`] makes sure that nothing is left out.

mod bodies;
mod commands;
mod coverage;
mod debug_output;
mod followed;
mod given;
mod http1;
mod http2;
mod malformed;
mod outputs;
mod runs;
mod secrets;
mod traffic;
