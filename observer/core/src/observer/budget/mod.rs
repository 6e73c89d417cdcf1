//! Budgets: limits that a user sets on the cost and the findings of a run (`--budget`), compared with the actual numbers.

mod allowance;
mod quantity;
mod usage;

#[cfg(test)]
mod tests;

pub use allowance::{Allowance, Budget, Excess, Limited};
pub use quantity::Quantity;
pub use usage::Usage;
