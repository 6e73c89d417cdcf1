//! Does the work of one region, of `decode`, `follow` and `forward`, on fixed inputs. `cargo xtask instructions` runs it under
//! callgrind, for a commit and the one before.
//!
//! It has one thread, and no table in it is hashed with a random seed. Its first line names the vector instructions that the core
//! chooses on this processor.

mod bodies;
mod exchanges;
mod regions;

use std::io::Write;

fn main() -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{}", vectors())?;
    match std::env::args().nth(1).as_deref() {
        Some("decode") => regions::decode(),
        Some("follow") => regions::follow(),
        Some("forward") => regions::forward(),
        _ => anyhow::bail!("usage: observer-counted decode|follow|forward"),
    }
}

/// The widest vector instructions that the core and memchr use, if the processor has them.
#[cfg(target_arch = "x86_64")]
fn vectors() -> &'static str {
    if std::arch::is_x86_feature_detected!("avx2") { "AVX2" } else { "SSE2" }
}

#[cfg(not(target_arch = "x86_64"))]
fn vectors() -> &'static str {
    std::env::consts::ARCH
}
