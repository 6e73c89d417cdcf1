//! Inputs that the benches and the count of instructions share.

pub mod frames;
mod json_list;
mod stage;

pub use json_list::json_list;
pub use stage::Stage;
