//! Prometheus and promtool read the metrics of running watchtaps.

mod demo_story;
mod joined_storm;
mod page_check;
mod panels;
mod restart;
mod stored;
