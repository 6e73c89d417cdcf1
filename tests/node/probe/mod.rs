//! watchtap as the probe of the chart on each node.

mod control_plane;
mod pod;
mod readiness;
mod report;
mod rights;
mod witness;
