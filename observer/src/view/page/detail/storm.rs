//! A storm: its trigger, and its members ranked by cost.

use observer_core::quantity::Amount;
use observer_core::reflector::cause_label;
use observer_core::storm::{StormMember, StormRecord};

use crate::view::client::program;
use crate::view::colour::Tone;
use crate::view::following::{lasted, layers, without_list};
use crate::view::page::column::Column;
use crate::view::page::reflectors::scope;
use crate::view::page::row::Cell;
use crate::view::page::sheet::Sheet;
use crate::view::page::storms::state;
use crate::view::quantity::{bytes, count, counted, length};

/// Members drawn; JSON has all.
const MOST_MEMBERS: usize = 500;

const MEMBERS: &[Column] = &[
    Column::words("CLIENT", 20),
    Column::words("RESOURCE", 12),
    Column::words("SCOPE", 14).rank(5),
    Column::number("RELISTS").rank(2),
    Column::number("REQUESTS").rank(6),
    Column::number("OBJECTS").rank(3),
    Column::number("UNCHANGED").rank(4),
    Column::number("BYTES").rank(1),
];

pub(super) fn write(storm: &StormRecord, sheet: &mut Sheet<'_>) {
    let upstream = if storm.upstream.is_empty() { String::new() } else { format!(" · at {}", storm.upstream.0) };
    sheet.title(&format!("storm {} · {}{upstream}", storm.storm, storm.trigger));
    let tone = if storm.ended.is_some() { Tone::Plain } else { Tone::Bad };
    sheet.fact("state", tone, &format!("{}; its members joined within {}", state(storm), length(lasted(storm))));
    let times = format!(
        "began {} · reported at {} · last reflector joined {}",
        sheet.time_of_day(storm.began),
        sheet.time_of_day(storm.named),
        sheet.time_of_day(storm.last)
    );
    sheet.fact("times", Tone::Plain, &times);
    let size = format!(
        "{} of {} · {} · peak {} a second",
        counted(storm.reflectors, "reflector"),
        counted(storm.clients, "client"),
        counted(storm.relists, "relist"),
        count(storm.peak_per_second)
    );
    sheet.fact("size", Tone::Plain, &size);
    let cost = format!("{} ({} unchanged) · {}", counted(storm.items, "object"), count(storm.repeated), bytes(storm.bytes));
    sheet.fact("cost", Tone::Plain, &cost);
    sheet.fact("served from", Tone::Plain, &layers(storm));
    if let Some(members) = without_list(storm) {
        sheet.fact("still no list", Tone::Bad, &members);
    }
    for (cause, number) in &storm.causes {
        sheet.fact("cause", Tone::Notable, &format!("{} × {} ({cause})", count(*number), cause_label(cause)));
    }
    members(storm, sheet);
}

fn members(storm: &StormRecord, sheet: &mut Sheet<'_>) {
    sheet.section("MEMBERS   most bytes first; columns after RELISTS count complete relists only");
    let rows: Vec<Vec<Cell>> = storm.members.iter().take(MOST_MEMBERS).map(cells).collect();
    sheet.table("MEMBERS", MEMBERS, &rows);
    let not_drawn = storm.members.len().saturating_sub(MOST_MEMBERS) as u64;
    let more = storm.members_omitted.saturating_add(not_drawn);
    if more > 0 {
        sheet.print(Tone::Quiet, &format!("… and {}", counted(more, "member")));
    }
}

fn cells(member: &StormMember) -> Vec<Cell> {
    let number = |number: Amount| Cell::number(number, &count(number));
    vec![
        Cell::words(&program(&member.client)),
        Cell::words(&member.shape.resource),
        Cell::words(&scope(&member.shape)),
        number(member.relists.into()),
        number(member.requests.into()),
        number(member.items),
        number(member.repeated),
        Cell::number(member.bytes, &bytes(member.bytes)),
    ]
}
