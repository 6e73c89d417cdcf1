//! Distinguishes characters that a terminal displays from those that have another effect or are invisible.
//!
//! The source is Unicode 16.0: `DerivedCoreProperties.txt` for `Default_Ignorable_Code_Point`, and `UnicodeData.txt` for the
//! general categories. Unassigned code points count as displayed: terminals show a box for them.

/// The replacement for a character that is not displayed.
pub(crate) const REPLACEMENT: &str = "\u{FFFD}";

/// Whether a terminal displays `character`, without any other effect. This is false for controls (C0, DEL, C1), characters that
/// change the direction of text, line separators, format characters, default-ignorable characters, private use, and noncharacters.
pub(crate) const fn is_shown(character: char) -> bool {
    !(is_control(character) || is_format(character) || is_invisible(character) || is_without_meaning(character))
}

/// General categories Cc, Zl and Zp.
const fn is_control(character: char) -> bool {
    matches!(character, '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{2028}' | '\u{2029}')
}

/// General category Cf: direction marks, joiners, tags, and marks of certain scripts and notations.
const fn is_format(character: char) -> bool {
    matches!(
        character,
        '\u{AD}'
            | '\u{600}'..='\u{605}'
            | '\u{61C}'
            | '\u{6DD}'
            | '\u{70F}'
            | '\u{890}'..='\u{891}'
            | '\u{8E2}'
            | '\u{180E}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{110BD}'
            | '\u{110CD}'
            | '\u{13430}'..='\u{1343F}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
    )
}

/// `Default_Ignorable_Code_Point` beyond Cf: fillers, variation selectors, and the plane of tags.
const fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{34F}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFF8}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Private use, and code points that will never be characters.
const fn is_without_meaning(character: char) -> bool {
    matches!(character, '\u{E000}'..='\u{F8FF}' | '\u{FDD0}'..='\u{FDEF}' | '\u{F0000}'..='\u{10FFFF}')
        || character as u32 & 0xFFFE == 0xFFFE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_invisible_characters_are_not_shown() {
        let obeyed = "\0\u{7}\u{8}\t\n\r\u{1b}\u{7f}\u{80}\u{9b}\u{9f}\u{ad}\u{61c}\u{180e}\u{200b}\u{200d}\u{200e}\u{200f}\u{2028}\u{2029}\
            \u{202a}\u{202e}\u{2060}\u{2064}\u{2066}\u{2069}\u{206f}\u{fe0f}\u{feff}\u{fff9}\u{ffff}\u{e000}\u{1fffe}\u{e0001}\u{e007f}\u{e0100}\u{10ffff}";
        for character in obeyed.chars() {
            assert!(!is_shown(character), "{character:?}");
        }
        for character in " ~ a\u{a0}äπЖעع中한日e\u{301}→·µ≥…▸🙂\u{FFFD}\u{20AC}".chars() {
            assert!(is_shown(character), "{character:?}");
        }
    }
}
