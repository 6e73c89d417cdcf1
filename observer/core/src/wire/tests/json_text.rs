//! JSON of any shape, written in any style.

use std::fmt::Write;

use proptest::prelude::*;

/// A JSON value whose members keep their order.
#[derive(Clone, Debug)]
pub(super) enum Json {
    Null,
    True,
    Number(i64),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// How JSON is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// The text at each place where whitespace is allowed.
    space: &'static str,
    /// One in this many characters is written as `\u`.
    escape_each: usize,
}

/// The style of kube-apiserver.
pub(super) const PLAIN: Style = Style { space: "", escape_each: usize::MAX };

pub(super) fn style() -> impl Strategy<Value = Style> {
    (prop::sample::select(["", " ", "\n\t  ", "\r\n"].as_slice()), 1_usize..6)
        .prop_map(|(space, escape_each)| Style { space, escape_each })
}

/// Any value, with member names that the reader looks for.
pub(super) fn arbitrary() -> BoxedStrategy<Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        Just(Json::True),
        any::<i64>().prop_map(Json::Number),
        prop_oneof![any::<String>(), r#"[\\"{}\[\],:]{0,9}"#].prop_map(Json::Text),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let name = prop_oneof![
            prop::sample::select(["metadata", "items", "rows", "object", "resourceVersion", "name", "kind", "type"].as_slice())
                .prop_map(str::to_owned),
            any::<String>(),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            prop::collection::btree_map(name, inner, 0..4).prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
    .boxed()
}

/// An object with some of `members`, in any order.
pub(super) fn shuffled_object(members: Vec<(&'static str, BoxedStrategy<Json>)>) -> impl Strategy<Value = Json> {
    let members: Vec<_> = members.into_iter().map(|(name, value)| (Just(name), prop::option::weighted(0.7, value))).collect();
    members.prop_shuffle().prop_map(|members| object(members.into_iter().filter_map(|(name, value)| Some((name, value?)))))
}

pub(super) fn object<'a>(members: impl IntoIterator<Item = (&'a str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

impl Json {
    /// The object with one more member.
    pub(super) fn with(mut self, name: &str, value: Self) -> Self {
        if let Self::Object(members) = &mut self {
            members.push((name.to_owned(), value));
        }
        self
    }

    pub(super) fn text(&self, style: Style) -> String {
        let mut text = String::new();
        self.write(style, &mut text);
        text
    }

    fn write(&self, style: Style, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::True => out.push_str("true"),
            Self::Number(number) => write!(out, "{number}").unwrap(),
            Self::Text(text) => write_string(text, style, out),
            Self::Array(elements) => write_list(["[", "]"], elements, style, out, |element, out| element.write(style, out)),
            Self::Object(members) => write_list(["{", "}"], members, style, out, |(name, value), out| {
                write_string(name, style, out);
                write!(out, "{0}:{0}", style.space).unwrap();
                value.write(style, out);
            }),
        }
    }
}

fn write_list<T>([open, close]: [&str; 2], elements: &[T], style: Style, out: &mut String, write: impl Fn(&T, &mut String)) {
    out.push_str(open);
    out.push_str(style.space);
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            write!(out, ",{}", style.space).unwrap();
        }
        write(element, out);
        out.push_str(style.space);
    }
    out.push_str(close);
}

fn write_string(text: &str, style: Style, out: &mut String) {
    out.push('"');
    for (index, char) in text.chars().enumerate() {
        match char {
            '"' | '\\' => write!(out, "\\{char}").unwrap(),
            _ if char < ' ' || index % style.escape_each == 1 => {
                char.encode_utf16(&mut [0; 2]).iter().for_each(|unit| write!(out, "\\u{unit:04x}").unwrap());
            }
            _ => out.push(char),
        }
    }
    out.push('"');
}
