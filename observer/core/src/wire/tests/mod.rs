//! Bodies in, facts out.

mod documents;
mod watches;

mod chunking;
mod damage;
mod gaps;
mod gzip;

mod against_serde;

mod fixtures;
mod json_text;
mod reading;
