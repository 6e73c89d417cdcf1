//! Rules for everything that uses the metrics of watchtap: recording rules, alerts, boards, and docs/alerts.md. They name only metrics,
//! labels and label values in the tables of the core (observer/core/src/series); alerts and boards are complete.

mod promql;
mod rule_file;
mod tables;

mod alerts;
mod boards;
mod names;
mod panels;
