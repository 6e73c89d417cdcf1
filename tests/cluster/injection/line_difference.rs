//! The lines in which two texts differ, by the shortest edit (Myers, "An O(ND) Difference Algorithm", 1986).

use std::ops::RangeInclusive;

/// The edit that makes one text from another. Lines are counted from 0.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LineDifference {
    /// Lines of the first text that the second lacks.
    pub(super) removed: Vec<usize>,
    /// For each line that is new in the second text, the number of lines of the first text before it.
    pub(super) added: Vec<usize>,
}

impl LineDifference {
    pub(super) fn between(before: &str, after: &str) -> Self {
        let lines = |text: &'_ str| -> Vec<String> { text.split_inclusive('\n').map(str::to_owned).collect() };
        let (before, after) = (lines(before), lines(after));
        let first = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
        let (one, other) = (&before[first..], &after[first..]);
        let last = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
        let mut difference = edit(&one[..one.len() - last], &other[..other.len() - last]);
        difference.removed.iter_mut().chain(&mut difference.added).for_each(|line| *line += first);
        difference
    }

    /// The number of lines that a reader sees as changed: a line that replaces another counts once.
    pub(super) fn lines(&self) -> usize {
        self.removed.len().max(self.added.len())
    }

    /// Whether all changes are within these lines of the first text.
    pub(super) fn is_within(&self, lines: &RangeInclusive<usize>) -> bool {
        self.removed.iter().chain(&self.added).all(|line| lines.contains(line))
    }
}

/// The furthest places of each diagonal for each number of edits, followed back from the end.
fn edit(before: &[String], after: &[String]) -> LineDifference {
    let (lengths, most) = ([before.len(), after.len()], before.len() + after.len());
    let mut furthest = vec![0_usize; 2 * most + 2];
    let mut steps = Vec::new();
    for edits in 0..=most {
        steps.push(furthest.clone());
        for diagonal in (most - edits..=most + edits).step_by(2) {
            let down = came_down(&furthest, diagonal, most, edits);
            let mut line = if down { furthest[diagonal + 1] } else { furthest[diagonal - 1] + 1 };
            while line < lengths[0] && line + most - diagonal < lengths[1] && before[line] == after[line + most - diagonal] {
                line += 1;
            }
            furthest[diagonal] = line;
            if line >= lengths[0] && line + most - diagonal >= lengths[1] {
                return followed_back(&steps, lengths, most);
            }
        }
    }
    unreachable!("all lines can be removed and added")
}

/// Whether the best way to a diagonal adds a line, instead of removing one.
fn came_down(furthest: &[usize], diagonal: usize, most: usize, edits: usize) -> bool {
    diagonal == most - edits || (diagonal != most + edits && furthest[diagonal - 1] < furthest[diagonal + 1])
}

fn followed_back(steps: &[Vec<usize>], [mut line, mut other]: [usize; 2], most: usize) -> LineDifference {
    let mut difference = LineDifference::default();
    for (edits, furthest) in steps.iter().enumerate().skip(1).rev() {
        let diagonal = line + most - other;
        if came_down(furthest, diagonal, most, edits) {
            line = furthest[diagonal + 1];
            other = line + most - (diagonal + 1);
            difference.added.push(line);
        } else {
            line = furthest[diagonal - 1];
            other = line + most - (diagonal - 1);
            difference.removed.push(line);
        }
    }
    difference.removed.reverse();
    difference.added.reverse();
    difference
}

/// The lines of a block in YAML's block style: those of the node at these keys, with the line of the last key. `None` if a key is
/// not found, as in JSON.
pub(super) fn block(text: &str, keys: &[&str]) -> Option<RangeInclusive<usize>> {
    let lines: Vec<&str> = text.lines().collect();
    let depth = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let speaks = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#') && !line.starts_with("---");
    let (mut first, mut end) = (0, lines.len());
    for key in keys {
        let begins = (first..end).find(|at| speaks(lines[*at]))?;
        let margin = depth(lines[begins]);
        let at = (begins..end).find(|at| depth(lines[*at]) == margin && lines[*at].trim_start().starts_with(&format!("{key}:")))?;
        end = (at + 1..end).find(|next| speaks(lines[*next]) && depth(lines[*next]) <= margin).unwrap_or(end);
        first = at + 1;
    }
    Some(first.checked_sub(1)?..=end)
}

#[test]
fn difference_is_the_shortest_edit() {
    let difference = LineDifference::between("a\nb\nc\nd\n", "a\nx\nc\nd\ny\n");
    assert_eq!(difference, LineDifference { removed: vec![1], added: vec![2, 4] });
    assert_eq!(difference.lines(), 2);
    assert_eq!(LineDifference::between("a\nb\n", "a\nb\n"), LineDifference::default());
    assert_eq!(LineDifference::between("", "a\n").added, [0]);
    assert_eq!(LineDifference::between("a\nb\nc\n", "b\n").removed, [0, 2]);
}

#[test]
fn block_ends_before_the_next_key_of_its_mapping() {
    let text = "kind: A\nspec:\n  one: 1\n  template:\n    spec:\n      x: 1\n\n  # of next\n  next: 2\nstatus: {}\n";
    assert_eq!(block(text, &["spec", "template"]), Some(3..=8));
    assert_eq!(block(text, &["spec", "missing"]), None);
}
