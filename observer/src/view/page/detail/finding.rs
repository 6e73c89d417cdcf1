//! A finding: the evidence, and the change to make.

use observer_core::observer::Finding;

use crate::view::colour::Tone;
use crate::view::page::findings::client;
use crate::view::page::sheet::Sheet;

pub(super) fn write(finding: &Finding, sheet: &mut Sheet<'_>) {
    sheet.title(&format!("finding {}", finding.kind));
    sheet.fact("client", Tone::Plain, &client(finding));
    sheet.fact("requests", Tone::Plain, &finding.shape.to_string());
    if !finding.reflectors.is_empty() {
        let reflectors: Vec<String> = finding.reflectors.iter().map(ToString::to_string).collect();
        sheet.fact("reflectors", Tone::Plain, &reflectors.join(", "));
    }
    sheet.section("EVIDENCE");
    sheet.print(Tone::Notable, &finding.seen);
    sheet.section("ADVICE");
    sheet.print(Tone::Plain, finding.advice);
    sheet.section("ID");
    sheet.print(Tone::Plain, &finding.id);
    sheet.print(Tone::Quiet, "the same in every run; --mute accepts it");
}

/// The evidence and the advice, as part of another detail.
pub(super) fn sentences(finding: &Finding, sheet: &mut Sheet<'_>) {
    sheet.hang("  ", Tone::Notable, &format!("{} · {}: {}", finding.kind, finding.shape, finding.seen));
    sheet.hang("    ", Tone::Plain, finding.advice);
}
