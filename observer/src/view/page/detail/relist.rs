//! The last relist of a reflector: its cause, the evidence, and the result.

use observer_core::reflector::ListEvent;
use observer_core::routing::Certainty;

use super::moments;
use crate::view::colour::Tone;
use crate::view::following;
use crate::view::page::sheet::Sheet;
use crate::view::quantity::time_of_day;
use crate::view::quantity::{bytes, counted, microseconds};

pub(super) fn write(list: &ListEvent, sheet: &mut Sheet) {
    let cause = list.cause.map_or_else(String::new, |cause| format!("   {cause}"));
    sheet.section(&format!("LAST RELIST   {}{cause}", time_of_day(list.at)));
    if let Some(cause) = list.cause {
        sheet.fact("why", Tone::Notable, &cause.sentence());
    }
    if let Some(status) = list.fallback_after {
        sheet.fact("form", Tone::Plain, &format!("in place of a streaming list that was refused with {status}"));
    }
    sheet.fact("came", Tone::Plain, &came(list));
    sheet.fact("served from", Tone::Plain, &served(list));
    let at_least = if list.repeats.at_least { "≥ " } else { "" };
    let of = format!("{} of {at_least}{}", following::spurious(list.repeats), counted(list.repeats.objects, "object"));
    sheet.fact("spurious", Tone::Plain, &of);
    sheet.fact(
        "evidence",
        Tone::Plain,
        if list.evidence.is_empty() { "none: nothing was observed before it" } else { "events before it:" },
    );
    moments::write(&list.evidence, None, sheet);
}

fn came(list: &ListEvent) -> String {
    format!(
        "{} · {} · {} in {}",
        counted(list.items, "item"),
        bytes(list.bytes),
        counted(list.requests, "request"),
        microseconds(list.took_us)
    )
}

fn served(list: &ListEvent) -> String {
    let Some(served_from) = &list.served_from else { return "unknown".to_owned() };
    let mark = match list.certainty {
        Some(Certainty::Predicted) => "~",
        Some(Certainty::Contradicted) => "!",
        Some(Certainty::Confirmed) | None => "",
    };
    format!("{served_from} {mark}{}", list.rule.unwrap_or_default())
}
