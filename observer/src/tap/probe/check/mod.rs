//! Checks what this machine allows a probe to do, and what a probe sees of the TLS libraries of the running processes.

mod capability;
mod machine;
mod requirements;
#[cfg(test)]
mod tests;
mod this_machine;
mod tls_files;
mod trial;
