//! The embedded demo: its API server, reached over TLS like any other, and its clients.

mod custom;
mod faults;
mod place;
mod played;
mod reads;
mod reflectors;
mod story;
mod uncached;
mod verified;
mod watches;
mod writes;
