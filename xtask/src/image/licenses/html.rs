//! The text of a page in HTML: Rust's releases have their licences in that form alone.

/// The page without its tags. A text that wraps itself stays as it is.
pub(super) fn text(page: &str) -> String {
    let mut pieces = page.split('<');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        text += piece.split_once('>').map_or("", |(_tag, after)| after);
    }
    let mut lines = String::new();
    for line in text.lines().map(str::trim_end) {
        // The page has many lines that are empty without their tags.
        if !(line.is_empty() && lines.ends_with("\n\n")) {
            lines += line;
            lines.push('\n');
        }
    }
    unescaped(lines.trim())
}

fn unescaped(text: &str) -> String {
    let mut pieces = text.split('&');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let known = piece.split_once(';').and_then(|(name, after)| Some((character(name)?, after)));
        if let Some((character, after)) = known {
            plain.push(character);
            plain += after;
        } else {
            plain.push('&');
            plain += piece;
        }
    }
    plain
}

fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        other => char::from_u32(other.strip_prefix('#')?.parse().ok()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_becomes_text() {
        let page = "<!DOCTYPE html>\n<title>Notices</title>\n\n<div style=\"x\">\n\n\n  <p><b>By:</b> A &#60;a@b.example&#62; &amp; B</p>\n\n\
                    <pre>\n   1. Grant &#34;as is&#34; & more &unknown;\n</pre></div>\n";
        assert_eq!(text(page), "Notices\n\n  By: A <a@b.example> & B\n\n   1. Grant \"as is\" & more &unknown;");
    }
}
