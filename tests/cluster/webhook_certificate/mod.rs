//! The certificate of the admission webhook with a real API server: its rights, races of replicas, and other programs that write the
//! same objects.

mod lifetimes;
mod other_appliers;
mod rights;
mod system;
