//! The measurements as a table, and the budget that they keep or miss.

use serde::Serialize;

use super::load::{Amounts, Times};
use crate::machine::Machine;
use crate::statistics::Summary;
use crate::table::Table;

/// The budget for the 99th percentile, in milliseconds.
const P99_MS: f64 = 20.0;

#[derive(Debug, Serialize)]
pub(super) struct Report {
    webhooks: [Webhook; 2],
    p50_ratio: Summary,
    p99_ratio: Summary,
    /// Resident memory of watchtap after the run without pages of files, in bytes.
    memory: u64,
    review_bytes: usize,
    amounts: Amounts,
    machine: Machine,
}

#[derive(Debug, Serialize)]
struct Webhook {
    name: &'static str,
    p50_us: Summary,
    p99_us: Summary,
}

impl Report {
    /// `None` without rounds.
    pub(super) fn of(
        allowing: &[Times],
        watchtap: &[Times],
        memory: u64,
        review_bytes: usize,
        amounts: Amounts,
        machine: Machine,
    ) -> Option<Self> {
        let webhook = |name, times: &[Times]| {
            let p50_us = Summary::of(times.iter().map(|times| times.p50_us))?;
            Some(Webhook { name, p50_us, p99_us: Summary::of(times.iter().map(|times| times.p99_us))? })
        };
        let ratio = |of: fn(&Times) -> f64| Summary::of_ratios(watchtap.iter().map(of), allowing.iter().map(of));
        Some(Self {
            webhooks: [webhook("changes nothing", allowing)?, webhook("watchtap", watchtap)?],
            p50_ratio: ratio(|times| times.p50_us)?,
            p99_ratio: ratio(|times| times.p99_us)?,
            memory,
            review_bytes,
            amounts,
            machine,
        })
    }

    pub(super) fn to_markdown(&self) -> String {
        let Self { webhooks: [allowing, watchtap], p50_ratio, p99_ratio, memory, review_bytes, amounts, machine } = self;
        let mut table = Table::new(["Webhook", "median, ms", "ratio", "99th percentile, ms", "ratio"]);
        let row = |webhook: &Webhook, ratios: [String; 2]| {
            let [p50, p99] = [webhook.p50_us, webhook.p99_us].map(|summary| format!("{:.2}", summary.scaled(1e-3)));
            let [of_p50, of_p99] = ratios;
            [webhook.name.to_owned(), p50, of_p50, p99, of_p99]
        };
        table.row(row(allowing, Default::default()));
        table.row(row(watchtap, [p50_ratio, p99_ratio].map(|ratio| format!("{ratio:.2}"))));
        let kept = if watchtap.p99_us.median <= P99_MS * 1e3 { "kept" } else { "**missed**" };
        format!(
            "{}\n{} reviews of {review_bytes} bytes in each round, {} a second, on {} connections. Each one gets a patch with the sidecar. \
             watchtap then had {} KiB.\nBudget: 99th percentile {P99_MS:.0} ms, {kept}.\n\n{machine}\n",
            table.to_markdown(),
            amounts.reviews,
            amounts.reviews_a_second,
            amounts.connections,
            memory >> 10
        )
    }
}
