//! The measurements as tables, and the budgets that they keep or miss.

use serde::Serialize;
use serde_json::Value;

use super::idle::{Idle, State};
use super::image::Size;
use super::latency::{Latency, Wait};
use super::start::Start;
use crate::machine::Machine;
use crate::table::Table;

/// The budget of the sidecar's process for its start, in milliseconds.
const OWN_START_MS: f64 = 200.0;
/// The budget for the size of the image, in compressed bytes.
const IMAGE_BYTES: u64 = 15_000_000;

#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) idle: Idle,
    pub(super) latencies: Vec<Latency>,
    pub(super) start: Start,
    /// `None` without an image.
    pub(super) image: Option<Size>,
    pub(super) machine: Machine,
}

impl Report {
    pub(super) fn to_markdown(&self) -> String {
        let parts = [self.usage(), self.latency(), self.starts(), self.budgets(), format!("{}\n", self.machine)];
        parts.join("\n")
    }

    fn usage(&self) -> String {
        let Idle { usages, amounts, informers, objects, limit, resources } = &self.idle;
        let mut table =
            Table::new(["Sidecar", "anonymous, MiB", "resident, MiB", "in all, MiB", "peak, MiB", "peak, of the limit", "CPU, m"]);
        for usage in usages {
            table.row([
                match usage.state {
                    State::NoClient => "without a client".to_owned(),
                    State::Informers => format!("{informers} informers, from their lists on"),
                    State::Changes => format!("{informers} informers, {} changes a second", amounts.changes_a_second),
                },
                format!("{:.1}", mebibytes(usage.memory.anonymous)),
                format!("{:.1}", mebibytes(usage.memory.resident)),
                format!("{:.1}", mebibytes(usage.memory.usage)),
                format!("{:.1}", mebibytes(usage.memory.peak)),
                format!("{:.2}", mebibytes(usage.memory.peak) / mebibytes(*limit)),
                format!("{:.2}", usage.cpu_millis),
            ]);
        }
        format!(
            "{}\nThe informers have {objects} objects, {} of them pods. CPU is a mean of {} s, in thousandths of a CPU. `inject` sets {}.\n",
            table.to_markdown(),
            amounts.objects,
            amounts.seconds,
            described(resources)
        )
    }

    fn latency(&self) -> String {
        let mut table = Table::new(["Latency", "percentile", "without, µs", "with the sidecar, µs", "added, µs", "ratio"]);
        for Latency { wait, percentile, without_us, with_us, added_us, ratio } in &self.latencies {
            table.row([
                match wait {
                    Wait::Get => "GET".to_owned(),
                    Wait::Event => "write to watch event".to_owned(),
                },
                percentile.to_string(),
                format!("{without_us:.0}"),
                format!("{with_us:.0}"),
                format!("{added_us:.0}"),
                format!("{ratio:.2}"),
            ]);
        }
        table.to_markdown()
    }

    fn starts(&self) -> String {
        let Start { without_s, trivial_s, watchtap_s, added_s, own_ms } = &self.start;
        let mut table =
            Table::new(["Pod", "from its creation to its container's program, s", "more than with the trivial sidecar, s"]);
        table.row(["without a sidecar".to_owned(), format!("{without_s:.2}")]);
        table.row(["with a trivial sidecar".to_owned(), format!("{trivial_s:.2}")]);
        table.row(["with watchtap".to_owned(), format!("{watchtap_s:.2}"), format!("{added_s:.2}")]);
        let markdown = table.to_markdown();
        format!("{markdown}\nFrom the start of watchtap's process until it answers the startup probe: {own_ms:.0} ms.\n")
    }

    fn budgets(&self) -> String {
        let own = kept(self.start.own_ms.median <= OWN_START_MS);
        let start = format!("Budgets: {OWN_START_MS:.0} ms of the start for watchtap's process, {own}");
        let Some(Size { compressed, unpacked }) = self.image else { return format!("{start}. No image was measured.\n") };
        let image = kept(compressed <= IMAGE_BYTES);
        format!(
            "{start}; {:.0} MB for the image, {image}: it has {:.1} MB compressed, and {:.1} MB unpacked.\n",
            megabytes(IMAGE_BYTES),
            megabytes(compressed),
            megabytes(unpacked)
        )
    }
}

/// Requests and limits in words, as far as there are any.
fn described(resources: &Value) -> String {
    let of = |kind: &str| {
        let quantities = resources[kind].as_object().into_iter().flatten();
        let quantities: Vec<_> =
            quantities.map(|(name, quantity)| format!("{name} {}", quantity.as_str().unwrap_or("?"))).collect();
        (!quantities.is_empty()).then(|| format!("{kind} of {}", quantities.join(" and ")))
    };
    let words: Vec<String> = ["requests", "limits"].into_iter().filter_map(of).collect();
    if words.is_empty() { "no requests and no limits".to_owned() } else { words.join(", and ") }
}

const fn kept(is_kept: bool) -> &'static str {
    if is_kept { "kept" } else { "**missed**" }
}

fn mebibytes(bytes: u64) -> f64 {
    number(bytes) / f64::from(1 << 20)
}

fn megabytes(bytes: u64) -> f64 {
    number(bytes) / 1e6
}

#[expect(clippy::cast_precision_loss, reason = "no container has 2^52 bytes")]
const fn number(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn resources_are_described_as_far_as_there_are_any() {
        let resources = json!({"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}});
        assert_eq!(described(&resources), "requests of cpu 10m and memory 32Mi, and limits of memory 128Mi");
        assert_eq!(described(&Value::Null), "no requests and no limits");
    }
}
