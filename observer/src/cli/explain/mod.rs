//! `watchtap explain`: the forms of its input, and the choice of the explanation.

mod shell_words;

mod names;
mod wrong_input;

mod request;
mod resource;
mod verbs;

mod subject;

mod pasted;

mod command;

pub(super) use command::Explain;

#[cfg(test)]
mod tests;
