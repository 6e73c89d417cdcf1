//! The history of a reflector, one line per moment.

use observer_core::reflector::{Happened, Moment};
use observer_core::time::Timestamp;

use crate::view::colour::Tone;
use crate::view::moment::words;
use crate::view::page::sheet::Sheet;

/// Writes each moment with its time and a letter. `relist` is the time at which the last relist began.
pub(super) fn write(moments: &[Moment], relist: Option<Timestamp>, sheet: &mut Sheet<'_>) {
    for moment in moments {
        let (letter, tone) = letter(moment, relist);
        let prefix = format!("  {}  {letter}  ", sheet.time_of_day(moment.at));
        sheet.hang(&prefix, tone, &words(moment));
    }
}

fn letter(moment: &Moment, relist: Option<Timestamp>) -> (&'static str, Tone) {
    let begins_relist = relist == Some(moment.at);
    match &moment.what {
        Happened::ListAsked { is_page: false, .. } | Happened::WatchAsked { initial_events: true, .. } if begins_relist => {
            ("R", Tone::Notable)
        }
        Happened::ListAsked { .. } | Happened::ListCame { .. } => ("L", Tone::Plain),
        Happened::WatchAsked { .. } | Happened::WatchOpened | Happened::InitialEventsEnded { .. } => ("w", Tone::Plain),
        Happened::Delivered { events: 0, .. } => ("b", Tone::Plain),
        Happened::Delivered { .. } => ("·", Tone::Plain),
        Happened::Failed { .. } | Happened::ListBroke | Happened::ServerRefused { .. } => ("x", Tone::Notable),
        Happened::Stalled { .. } | Happened::ClosedByForce { .. } => ("z", Tone::Bad),
        Happened::WatchEnded { .. } | Happened::CacheReset => ("x", Tone::Plain),
        Happened::ReadAgain { .. } => ("z", Tone::Plain),
        Happened::NotObserved => ("?", Tone::Bad),
    }
}
