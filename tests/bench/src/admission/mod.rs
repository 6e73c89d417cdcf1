//! `webhook`: the time that `watchtap webhook` takes for an admission, beside a webhook that changes nothing.
//!
//! The client sends reviews as kube-apiserver does: HTTP/1.1 over TLS, on connections that it keeps. Both webhooks are processes of their own.

mod allowing;
mod command;
mod load;
mod report;

pub(crate) use allowing::{Args as AllowingArgs, execute as serve_allowing};
pub(crate) use command::{Args, execute};
