//! Joins the lines of JSON that is written over several, as `aws logs filter-log-events`, `kubectl get --output json` and `jq` do.

use super::audit::MAX_LINE;
use super::envelope::Unwrapped;
use crate::redacted::Redacted;

/// Maximum number of objects and arrays around a value.
const MOST_NESTED: usize = 128;

/// Finds objects that span several lines, and passes all other lines on as they are.
///
/// Such an object begins with a line that has only its brace. The elements of an array in it are passed on one by one. Those that are
/// understood are dropped from memory, so an object may be of any length.
#[derive(Debug, Default)]
pub(super) struct Indented {
    /// The object so far, without the elements that were understood.
    text: Redacted<Vec<u8>>,
    /// The objects and arrays that are open at its end, the outermost first.
    open: Vec<Opened>,
    /// Number of lines since its beginning, or since the last element that was understood.
    lines: u64,
    has_understood: bool,
    /// The elements so far of the array that is open in the object.
    elements: Unwrapped,
    /// Number of elements of this array that were lost before the last one that was understood.
    lost_before: u64,
    /// Number of lost lines in the arrays that had an element that was understood.
    lost: u64,
}

#[derive(Clone, Copy, Debug)]
struct Opened {
    brace: u8,
    /// Its first byte's place.
    start: usize,
}

/// The state of an object after one more line.
enum Progress {
    Open,
    Complete,
    Broken,
}

impl Indented {
    /// Whether an object is open.
    pub(super) const fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Takes the next line. `each` receives complete lines and objects. Returns the number of lines that are found not to be understood.
    pub(super) fn line(&mut self, line: &[u8], each: &mut dyn FnMut(&[u8]) -> Unwrapped) -> u64 {
        let bare = line.trim_ascii();
        if self.open.is_empty() {
            return match bare {
                b"{" => self.begin(),
                // An array around such objects.
                b"[" | b"]" => 0,
                _other => each(line).lost,
            };
        }
        let may_continue = continues(bare) && self.text.len() + bare.len() < MAX_LINE;
        match if may_continue { self.append(bare, each) } else { Progress::Broken } {
            Progress::Open => 0,
            Progress::Complete if self.has_understood => self.end(true),
            Progress::Complete => {
                let unwrapped = each(&self.text.0);
                self.lost = if unwrapped.is_understood { unwrapped.lost } else { 0 };
                self.end(unwrapped.is_understood)
            }
            // A line that cannot belong to the object stands for itself.
            Progress::Broken if may_continue => self.end(false),
            Progress::Broken => self.end(false).saturating_add(self.line(line, each)),
        }
    }

    /// Notes that there are no further lines. Returns the number of lines of an unfinished object.
    pub(super) fn finish(&mut self) -> u64 {
        self.end(false)
    }

    fn begin(&mut self) -> u64 {
        self.text.0.extend_from_slice(b"{\n");
        self.open.push(Opened { brace: b'{', start: 0 });
        self.lines = 1;
        0
    }

    fn end(&mut self, is_understood: bool) -> u64 {
        if is_understood {
            self.end_array();
        } else {
            // The elements after the last one that was understood are among the lines.
            self.lost = self.lost.saturating_add(self.lost_before);
        }
        let Self { lines, lost, .. } = std::mem::take(self);
        if is_understood { lost } else { lines.saturating_add(lost) }
    }

    /// Counts the elements of an array of lines that were not understood. Objects of other arrays are no lines.
    fn end_array(&mut self) {
        let Unwrapped { is_understood, lost } = std::mem::take(&mut self.elements);
        self.lost_before = 0;
        if is_understood {
            self.lost = self.lost.saturating_add(lost);
            self.lines = 0;
        }
    }

    /// Adds a line. A string of JSON ends on its line.
    fn append(&mut self, line: &[u8], each: &mut dyn FnMut(&[u8]) -> Unwrapped) -> Progress {
        self.lines = self.lines.saturating_add(1);
        let (mut is_string, mut is_escaped) = (false, false);
        for byte in line {
            match byte {
                b',' if self.open.is_empty() => continue,
                _any if self.open.is_empty() => return Progress::Broken,
                _any if is_escaped => is_escaped = false,
                b'\\' if is_string => is_escaped = true,
                b'"' => is_string = !is_string,
                b'{' | b'[' if !is_string && self.open.len() < MOST_NESTED => {
                    self.open.push(Opened { brace: *byte, start: self.text.len() });
                }
                b'{' | b'[' if !is_string => return Progress::Broken,
                b'}' | b']' if !is_string => {
                    self.text.0.push(*byte);
                    if !self.close(*byte, each) {
                        return Progress::Broken;
                    }
                    continue;
                }
                _other => {}
            }
            self.text.0.push(*byte);
        }
        match (is_string, self.open.is_empty()) {
            (true, _) => Progress::Broken,
            (false, true) => Progress::Complete,
            (false, false) => {
                self.text.0.push(b'\n');
                Progress::Open
            }
        }
    }

    /// Closes the innermost object or array. Returns whether the brace is the one of its kind.
    fn close(&mut self, brace: u8, each: &mut dyn FnMut(&[u8]) -> Unwrapped) -> bool {
        let Some(closed) = self.open.pop().filter(|opened| opened.brace == if brace == b'}' { b'{' } else { b'[' }) else {
            return false;
        };
        let is_element = brace == b'}' && matches!(self.open.as_slice(), [_, Opened { brace: b'[', .. }]);
        if is_element {
            let unwrapped = self.text.get(closed.start..).map(each).unwrap_or_default();
            self.elements = self.elements.and(unwrapped);
            if unwrapped.is_understood {
                self.text.0.truncate(closed.start);
                self.lines = 0;
                self.lost_before = self.elements.lost;
                self.has_understood = true;
            }
        } else if self.open.len() == 1 {
            self.end_array();
        }
        true
    }
}

/// Whether a line may be one of an object that spans several: each begins with a string, a brace or a scalar. An object that begins on
/// such a line continues in the next ones, or is empty.
fn continues(line: &[u8]) -> bool {
    let scalar = line.strip_suffix(b",").unwrap_or(line);
    match line.first() {
        None | Some(b'"' | b'}' | b']' | b'[') => true,
        Some(b'{') => matches!(scalar, b"{" | b"{}"),
        Some(b'-' | b'0'..=b'9') => scalar.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')),
        Some(_other) => matches!(scalar, b"true" | b"false" | b"null"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts with an `x`, which are understood, and the number of lines that are not.
    fn passed(lines: &str) -> (Vec<String>, u64) {
        let (mut indented, mut passed, mut others) = (Indented::default(), Vec::new(), 0);
        for line in lines.lines() {
            others += indented.line(line.as_bytes(), &mut |text| {
                let is_understood = text.contains(&b'x');
                if is_understood {
                    let text = String::from_utf8_lossy(text);
                    passed.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
                }
                Unwrapped::one(is_understood)
            });
        }
        others += indented.finish();
        (passed, others)
    }

    #[test]
    fn object_over_several_lines_is_joined() {
        let object =
            "{\n    \"a\": \"x } \\\" {\",\n    \"b\": [\n        1,\n        -2.5e3,\n        {}\n    ],\n    \"c\": null\n}";
        assert_eq!(passed(object), (vec![object.split_whitespace().collect::<Vec<_>>().join(" ")], 0));
    }

    #[test]
    fn elements_of_an_array_are_passed_on_one_by_one() {
        let list = "{\n  \"items\": [\n    {\n      \"a\": \"x1\"\n    },\n    {\n      \"a\": \"x2\"\n    }\n  ],\n  \"next\": \"y\"\n}\nx3";
        assert_eq!(passed(list), (vec![r#"{ "a": "x1" }"#.to_owned(), r#"{ "a": "x2" }"#.to_owned(), "x3".to_owned()], 0));
        let array = "[\n  {\n    \"a\": \"x1\"\n  },\n  {\n    \"a\": \"x2\"\n  }\n]";
        assert_eq!(passed(array).0.len(), 2);
        assert_eq!(passed(array).1, 0);
    }

    #[test]
    fn elements_that_are_not_understood_are_counted() {
        let list = |elements: &[&str]| {
            let elements: Vec<String> = elements.iter().map(|text| format!("{{\n\"a\": \"{text}\"\n}}")).collect();
            format!("{{\n\"items\": [\n{}\n],\n\"other\": [\n{{\n\"b\": 1\n}}\n]\n}}", elements.join(",\n"))
        };
        assert_eq!(passed(&list(&["x", "y", "x", "y", "y"])), (vec![r#"{ "a": "x" }"#.to_owned(); 2], 3));
        assert_eq!(passed(&list(&["y", "x"])).1, 1);
        // The last one is torn.
        assert_eq!(passed("{\n\"items\": [\n{\n\"a\": \"y\"\n},\n{\n\"a\": \"x\"\n},\n{\n\"a\": \"y\"\n},").1, 4);
        // It has twelve lines.
        assert_eq!(passed(&list(&["y"])), (vec![], 12));
    }

    #[test]
    fn long_lists_take_no_memory() {
        let mut indented = Indented::default();
        indented.line(b"{", &mut |_| Unwrapped::one(false));
        indented.line(b"\"items\": [", &mut |_| Unwrapped::one(false));
        for _ in 0..10_000 {
            for line in [&b"{"[..], b"\"a\": 1", b"},"] {
                assert_eq!(indented.line(line, &mut |text| Unwrapped::one(text.ends_with(b"}"))), 0);
            }
        }
        assert!(indented.text.len() < 50_000, "{}", indented.text.len());
    }

    #[test]
    fn torn_and_broken_objects_hide_no_other_lines() {
        for (lines, expected) in [
            ("{\n  \"a\": 1,\n{\"x\": 1}", (1, 2)),
            ("{\n  \"a\": 1\n2026-11-22T02:00:00Z x", (1, 2)),
            ("{\n  \"a\": [\n  }\nx", (1, 3)),
            ("{\n  \"a\": \"\nx", (1, 2)),
            ("{\n}}\nx", (1, 2)),
            ("{\n  \"a\": 1", (0, 2)),
            ("{\n  \"a\": 1\n}", (0, 3)),
            ("y\nx", (1, 1)),
        ] {
            let (passed, others) = passed(lines);
            assert_eq!((passed.len(), others), expected, "{lines}");
        }
    }

    #[test]
    fn object_that_is_too_long_is_given_up() {
        let mut indented = Indented::default();
        let line = [b"\"a\": \"".to_vec(), vec![b'b'; MAX_LINE / 2], b"\",".to_vec()].concat();
        let mut others = indented.line(b"{", &mut |_| Unwrapped::one(false));
        for _ in 0..2 {
            others += indented.line(&line, &mut |_| Unwrapped::one(false));
        }
        assert_eq!((others, indented.text.len()), (3, 0));
    }
}
