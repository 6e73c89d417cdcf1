//! Checks what this machine allows a probe, and what a probe sees of its processes' TLS libraries.

mod capability;
mod machine;
mod requirements;
#[cfg(test)]
mod tests;
mod this_machine;
mod tls_files;
mod trial;
