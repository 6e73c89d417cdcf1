//! Header blocks from the `h2` crate, which hyper and kube-rs use, decode to the encoded fields.

mod connection;
mod frames;
mod random;
mod roundtrip;
