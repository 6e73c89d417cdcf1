//! What this machine allows a probe, and what the TLS libraries of its processes offer one.

mod capability;
mod machine;
mod probe_check;
mod requirements;
#[cfg(test)]
mod tests;
mod tls_files;
mod trial;
