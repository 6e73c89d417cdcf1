//! Checks what this machine allows a probe, and what a probe sees of its processes' TLS libraries.

mod capability;
mod machine;
mod probe_check;
mod requirements;
#[cfg(test)]
mod tests;
mod tls_files;
mod trial;
