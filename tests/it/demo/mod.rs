//! The embedded demo API server, asked over TLS as any client asks it.

mod faults;
mod place;
mod reads;
mod watches;
mod writes;
