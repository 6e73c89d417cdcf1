//! `watchtap webhook` as the API server, probes and strangers meet it.

mod answers;
mod hostile;
mod reviews;
mod shutdown;
mod start;
