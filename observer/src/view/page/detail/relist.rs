//! The last relist of a reflector: its cause, the evidence, and the result.

use observer_core::reflector::ListEvent;

use super::moments;
use crate::view::colour::Tone;
use crate::view::following;
use crate::view::page::sheet::Sheet;
use crate::view::quantity::{bytes, counted, microseconds};
use crate::view::verdict::marked;

pub(super) fn write(list: &ListEvent, sheet: &mut Sheet<'_>) {
    let cause = list.cause.map_or_else(String::new, |cause| format!("   {cause}"));
    let heading = format!("LAST RELIST   {}{cause}", sheet.time_of_day(list.at));
    sheet.section(&heading);
    if let Some(cause) = list.cause {
        sheet.fact("why", Tone::Notable, &cause.sentence());
    }
    if let Some(status) = list.fallback_after {
        sheet.fact("instead of", Tone::Plain, &format!("a streaming list, which was refused with {status}"));
    }
    sheet.fact("received", Tone::Plain, &received(list));
    sheet.fact("served from", Tone::Plain, &served(list));
    let at_least = if list.repeats.at_least { "≥ " } else { "" };
    let of = format!("{} of {at_least}{}", following::unchanged(list.repeats), counted(list.repeats.objects, "object"));
    sheet.fact("unchanged", Tone::Plain, &of);
    sheet.fact(
        "evidence",
        Tone::Plain,
        if list.evidence.is_empty() { "none: nothing was observed before this relist" } else { "observed before this relist:" },
    );
    moments::write(&list.evidence, None, sheet);
}

fn received(list: &ListEvent) -> String {
    format!(
        "{} · {} · {} in {}",
        counted(list.items, "object"),
        bytes(list.bytes),
        counted(list.requests, "request"),
        microseconds(list.took_us)
    )
}

fn served(list: &ListEvent) -> String {
    let Some(served_from) = &list.served_from else { return "unknown".to_owned() };
    format!("{}   rule {}", marked(list.certainty, served_from), list.rule.unwrap_or_default())
}
