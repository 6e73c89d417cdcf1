//! Splits text into sentences, and leaves out parts that are not prose.

/// The sentences of a passage. A code span counts as one word, a link is replaced by its text, and text in parentheses is left out.
pub(super) fn sentences(passage: &str) -> Vec<String> {
    let prose = without_parentheses(&without_links(&without_code(passage)));
    let mut found = Vec::new();
    let mut sentence = String::new();
    for word in prose.split_whitespace() {
        if !sentence.is_empty() {
            sentence.push(' ');
        }
        sentence.push_str(word);
        if word.ends_with(['.', '!', '?', ':', ';']) {
            found.push(std::mem::take(&mut sentence));
        }
    }
    found.extend((!sentence.is_empty()).then_some(sentence));
    found
}

fn without_code(text: &str) -> String {
    text.split('`').enumerate().map(|(number, part)| if number % 2 == 0 { part } else { "X" }).collect()
}

/// Replaces `[text](target)` by `text`.
fn without_links(text: &str) -> String {
    let mut prose = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        prose.push_str(before);
        let Some((shown, behind)) = after.split_once(']') else {
            rest = after;
            break;
        };
        prose.push_str(shown);
        rest = behind.strip_prefix('(').and_then(|target| target.split_once(')')).map_or(behind, |(_, behind)| behind);
    }
    prose + rest
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0_usize;
    let mut prose = String::new();
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => prose.push(character),
            _ => {}
        }
    }
    prose
}

#[test]
fn code_links_and_parentheses_are_not_counted_as_words() {
    let found = sentences("A list of `GET /a. b` (see §1.3. there) is [read twice](a.md). Once is enough; or not");
    assert_eq!(found, ["A list of X is read twice.", "Once is enough;", "or not"]);
}

#[test]
fn dots_in_names_do_not_end_a_sentence() {
    assert_eq!(sentences("client-go v0.37.0 reads it. So does 1.36").len(), 2);
}
