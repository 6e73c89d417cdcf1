//! The embedded demo: its API server, asked over TLS as any client asks it, and its clients.

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
