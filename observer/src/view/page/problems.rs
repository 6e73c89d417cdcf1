//! The problems above the tables: the change to make, and what is wrong.

use observer_core::observer::Snapshot;

use super::line::{Line, first_lines};
use super::sheet::Sheet;
use crate::view::colour::Tone;
use crate::view::problems::{problem_line, tone};
use crate::view::quantity::counted;

/// The first problems, in at most `most` lines. A last line counts the others, and names `place`, where they are shown. A problem
/// is shown completely or not at all; only the first may be cut.
pub(super) fn lines(snapshot: &Snapshot, cells: usize, most: usize, place: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut hidden = 0_u64;
    for (index, problem) in snapshot.problems.iter().enumerate() {
        let mut sheet = Sheet::new(cells);
        sheet.hang(&format!("{}. ", index + 1), tone(problem), &problem_line(problem));
        let own = sheet.into_lines();
        let is_last = index + 1 == snapshot.problems.len();
        // One line remains for the number of the others.
        let room = most.saturating_sub(lines.len()).saturating_sub(usize::from(!is_last));
        if hidden == 0 && (index == 0 || own.len() <= room) {
            lines.append(&mut first_lines(own, room.max(1), cells));
        } else {
            hidden += 1;
        }
    }
    if hidden > 0 {
        lines.push(Line::of(Tone::Quiet, &format!("… and {} ({place})", counted(hidden, "more problem"))));
    }
    lines
}
