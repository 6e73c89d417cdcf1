//! Text that a terminal shows and does not obey.

use super::lines::is_unprintable;

/// `text` without control characters, and without those that change the direction or the meaning of what follows.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|character| if is_unprintable(character) { '\u{FFFD}' } else { character }).collect()
}
