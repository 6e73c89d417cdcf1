//! Budgets: limits that a user sets on the cost of a run (`--budget`), compared with its actual cost.

mod allowance;
mod quantity;
mod usage;

#[cfg(test)]
mod tests;

pub use allowance::{Allowance, Budget, Excess};
pub use quantity::Quantity;
pub use usage::Usage;
