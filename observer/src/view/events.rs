//! Events as JSON lines.

use std::io::{self, Write};

use observer_core::observer::{Event, Missed, Totals};
use observer_core::time::Timestamp;
use serde::Serialize;

use super::json::EVENTS_SCHEMA;
use crate::pipeline::EventSink;
use crate::printable::{Printer, json_line};

/// Writes one JSON object per line; the first line names the schema.
#[derive(Debug)]
pub struct EventLines<W> {
    out: Printer<W>,
}

#[derive(Serialize)]
struct Head {
    schema: &'static str,
    watchtap: &'static str,
}

impl<W: Write> EventLines<W> {
    /// Writes the first line.
    pub fn begin(mut out: Printer<W>) -> io::Result<Self> {
        write_line(&mut out, &Head { schema: EVENTS_SCHEMA, watchtap: env!("CARGO_PKG_VERSION") })?;
        Ok(Self { out })
    }
}

impl<W: Write + Send> EventSink for EventLines<W> {
    fn name(&self) -> &'static str {
        "--events"
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        write_line(&mut self.out, event)
    }

    fn totals(&mut self, _at: Timestamp, _totals: &Totals, _missed: &Missed) -> io::Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn write_line(out: &mut Printer<impl Write>, value: &impl Serialize) -> io::Result<()> {
    out.print(&json_line(value)?)
}
