//! watchtap as the probe of the chart on each node.

mod control_plane;
mod coverage;
mod examined;
mod guide;
mod observed;
mod page;
mod pod;
mod readiness;
mod report;
mod rights;
mod static_pod;
mod witness;
