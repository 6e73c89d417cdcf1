//! What a run may cost, and whether it did.

mod allowance;
mod quantity;
mod usage;

#[cfg(test)]
mod tests;

pub use allowance::{Allowance, Budget, Excess};
pub use quantity::Quantity;
pub use usage::Usage;
