//! Unmodified controllers with the demo API server: one of client-go, of controller-runtime, of kube-rs, and of the Python client. Two
//! are judged by a budget, before and after a fix. The report names what some of them did after each fault.
//!
//! They need `go`, and `python3` with `pip` and its registry. The modules are marked as tests so that their helper functions may
//! unwrap, too.

#[cfg(test)]
mod faults;
#[cfg(test)]
mod fixes;
#[cfg(test)]
mod go;
#[cfg(test)]
mod kube_rs;
#[cfg(test)]
mod python;
#[cfg(test)]
mod stage;
