//! `--metrics` as a scraper sees it: pages, formats, probes of the kubelet, hostile clients.

mod hostile;
mod pages;
mod prometheus;
mod running;
