//! Tests of both sides together, and of hostile input to each.

mod fixture;
mod hostile;
mod messages;
mod patience;
mod pictures;
mod serving;
mod sockets;
