//! Compares two runs: the measures that a fix changes, findings, relists by cause, and requests by shape.

mod change;
mod compared;
mod findings;
mod measures;
mod relists;
mod requests;

pub use change::Change;
pub use compared::{ComparedRun, Comparison};
pub use findings::{ComparedFinding, FindingSide};
pub use measures::{ComparedMeasure, Measure};
pub use relists::ComparedRelists;
pub use requests::{ComparisonRow, Layer, Side};
