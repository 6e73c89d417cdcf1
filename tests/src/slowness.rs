//! How much longer waits may take where tests run slowly, as in an emulated machine.

use std::sync::OnceLock;
use std::time::Duration;

/// The environment variable with the factor, an integer; 1 without it.
pub(crate) const VARIABLE: &str = "WATCHTAP_TESTS_SLOWNESS";

/// The limit of a wait, as it holds here. Limits that a test asserts of watchtap are no such limits.
pub fn patient(limit: Duration) -> Duration {
    static FACTOR: OnceLock<u32> = OnceLock::new();
    let factor = || std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    limit.saturating_mul(*FACTOR.get_or_init(factor))
}
