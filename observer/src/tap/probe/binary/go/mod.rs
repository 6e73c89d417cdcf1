//! Go programs: `crypto/tls`, and the HTTP/2 functions that handle header fields in plaintext.
//!
//! A stripped Go program still has its functions' names and addresses, because its own stack traces need them. Layouts: Go
//! `src/runtime/symtab.go` and `src/internal/abi/symtab.go`, 1.18 to 1.27.

mod line_table;
mod module_record;
mod probe_points;
mod release;

pub use probe_points::{GoProbePoints, Http2Function};
pub use release::GoVersion;

pub(super) use probe_points::find;
