//! Tests of the proxy with real sockets, between a scripted upstream and a client that checks every byte.

mod alpn;
mod bytes;
mod certificates;
mod client_process;
mod connect_requests;
mod connections;
mod ends;
mod forward_proxies;
mod handshake;
mod lifecycle;
mod liveness;
mod observing;
mod payload;
mod refused;
mod relist_burst;
mod renewals;
mod rig;
mod slow_clients;
mod stalls;
mod upstream;
mod versions;
