//! Splits a pasted command line into words, as a shell does.

/// The words of `line`. Quotes and backslashes are removed; nothing is expanded. An open quote ends with the line.
pub(super) fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, open @ ('\'' | '"')) => {
                quote = Some(open);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(characters.next()),
            (None, space) if space.is_whitespace() => words.extend(word.take()),
            (_, other) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_are_removed() {
        for (line, expected) in [
            ("kubectl get --raw '/api/v1/pods?limit=500&a=b c'", vec!["kubectl", "get", "--raw", "/api/v1/pods?limit=500&a=b c"]),
            (r#"a "b 'c' \" d" e\ f '\'"#, vec!["a", "b 'c' \" d", "e f", "\\"]),
            ("  a\t\n b  ", vec!["a", "b"]),
            ("''", vec![""]),
            ("a 'open quote", vec!["a", "open quote"]),
            ("", vec![]),
        ] {
            assert_eq!(shell_words(line), expected, "{line}");
        }
    }
}
