//! Adapts waits and repetitions to places where tests run slowly, such as an emulated machine.

use std::sync::OnceLock;
use std::time::Duration;

/// The environment variable with the factor, an integer; 1 without it.
pub(crate) const VARIABLE: &str = "WATCHTAP_TESTS_SLOWNESS";

/// The limit of a wait, as it holds here. Limits that a test asserts of watchtap are no such limits.
pub fn patient(limit: Duration) -> Duration {
    limit.saturating_mul(factor())
}

/// The number of repetitions that take as long here as `number` on a fast machine.
pub fn fewer(number: u32) -> u32 {
    number / factor()
}

/// At least 1.
fn factor() -> u32 {
    static FACTOR: OnceLock<u32> = OnceLock::new();
    let read = || std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(1).max(1);
    *FACTOR.get_or_init(read)
}
