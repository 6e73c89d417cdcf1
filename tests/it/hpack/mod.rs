//! Header blocks of the `h2` crate, which hyper and kube-rs use, decoded to what was encoded.

mod connection;
mod frames;
mod random;
mod roundtrip;
