//! The known words nearest to a mistyped one, for hints.

/// Largest number of words in a hint.
const MOST_NEAR: usize = 3;

/// The `known` texts nearest to `word`: those with few different letters, otherwise those that share a word with it.
pub(super) fn nearest(word: &str, known: impl IntoIterator<Item = String>) -> Vec<String> {
    let word = word.to_ascii_lowercase();
    let most = 1 + word.chars().count() / 4;
    let mut by_letters: Vec<(usize, String)> = Vec::new();
    let mut by_words: Vec<String> = Vec::new();
    for known in known {
        let distance = strsim::damerau_levenshtein(&word, &known.to_ascii_lowercase());
        if distance <= most {
            by_letters.push((distance, known));
        } else if shares_a_word(&known, &word) {
            by_words.push(known);
        }
    }
    by_letters.sort();
    let best = by_letters.first().map_or(0, |(distance, _)| *distance);
    let near: Vec<String> = by_letters.into_iter().filter(|(distance, _)| *distance == best).map(|(_, known)| known).collect();
    let mut found = if near.is_empty() { by_words } else { near };
    found.dedup();
    found.truncate(MOST_NEAR);
    found
}

/// `; did you mean a, b or c?`.
pub(super) fn hint(near: &[String]) -> String {
    let quoted: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((last, [])) => format!("; did you mean {last}?"),
        Some((last, others)) => format!("; did you mean {} or {last}?", others.join(", ")),
    }
}

fn shares_a_word(known: &str, word: &str) -> bool {
    let parts = |text| str::split(text, ['-', '/', '.']).filter(|part| part.len() > 3);
    parts(known).any(|part| parts(word).any(|other| other == part))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 7] = [
        "list-unset-consistent",
        "list-unset-etcd",
        "list-unset-limit-etcd",
        "list-unset-selector",
        "expired",
        "deaf-watch",
        "no-bookmarks",
    ];

    #[test]
    fn nearest_names_are_found() {
        for (word, expected) in [
            ("list-unset-consistnt", vec!["list-unset-consistent"]),
            ("Deaf-Wacth", vec!["deaf-watch"]),
            ("expird", vec!["expired"]),
            ("deaf", vec!["deaf-watch"]),
            ("no-bookmark", vec!["no-bookmarks"]),
            ("zzzzzz", vec![]),
        ] {
            assert_eq!(nearest(word, KNOWN.map(str::to_owned)), expected, "{word}");
        }
        assert_eq!(nearest("list-unset", KNOWN.map(str::to_owned)).len(), MOST_NEAR);
    }

    #[test]
    fn near_names_are_joined() {
        let hints = [&[][..], &["a"], &["a", "b"], &["a", "b", "c"]]
            .map(|near| hint(&near.iter().map(ToString::to_string).collect::<Vec<_>>()));
        assert_eq!(hints, ["", "; did you mean `a`?", "; did you mean `a` or `b`?", "; did you mean `a`, `b` or `c`?"]);
    }
}
