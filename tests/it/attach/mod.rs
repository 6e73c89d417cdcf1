//! `watchtap attach` as the user sees it: pages on other terminals, reports, lists, and the socket.

mod attachable;
mod finding;
mod hostile;
mod page;
mod pod;
mod report;
