//! The rates of the last minutes, for the sparklines of the header.

use std::collections::VecDeque;

use observer_core::observer::Rates;
use observer_core::time::{PerSecond, Timestamp};

/// Nanoseconds of a span, which is one cell of a sparkline.
const SPAN: u64 = 5_000_000_000;

/// Spans that are kept: five minutes.
pub(super) const MOST_SPANS: usize = 60;

/// Cells of a sparkline, from the lowest to the highest.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The rates of the snapshots that the page received.
#[derive(Debug, Default)]
pub(super) struct History(VecDeque<Span>);

/// The highest rates of a span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    number: u64,
    pub requests: PerSecond,
    pub events: PerSecond,
}

impl History {
    /// Notes the rates of a snapshot at `at`. Snapshots come in the order of their times.
    pub(super) fn note(&mut self, at: Timestamp, rates: &Rates) {
        let new = Span { number: span(at), requests: rates.requests_per_second, events: rates.watch_events_per_second };
        match self.0.back_mut() {
            Some(last) if last.number >= new.number => {
                last.requests = last.requests.max(new.requests);
                last.events = last.events.max(new.events);
            }
            Some(_) | None => self.0.push_back(new),
        }
        if self.0.len() > MOST_SPANS {
            self.0.pop_front();
        }
    }

    /// A sparkline of `cells` cells that ends at `at`, and its highest rate. A space is a span without a snapshot.
    pub(super) fn sparkline(&self, at: Timestamp, cells: usize, rate: fn(&Span) -> PerSecond) -> (String, PerSecond) {
        let last = span(at);
        let first = last.saturating_sub(cells.saturating_sub(1) as u64);
        let in_sight = || self.0.iter().filter(|span| (first..=last).contains(&span.number));
        let most = in_sight().map(rate).max().unwrap_or_default();
        let cell = |number: u64| in_sight().find(|span| span.number == number).map_or(' ', |span| level(rate(span), most));
        ((first..=last).map(cell).collect(), most)
    }
}

fn span(at: Timestamp) -> u64 {
    at.as_nanos() / SPAN
}

fn level(rate: PerSecond, most: PerSecond) -> char {
    let highest = LEVELS.len() as u64 - 1;
    let level = rate.thousandths().saturating_mul(highest).div_ceil(most.thousandths().max(1));
    usize::try_from(level).ok().and_then(|level| LEVELS.get(level)).copied().unwrap_or('█')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparkline_shows_the_highest_rate_of_each_span() {
        let mut history = History::default();
        for (seconds, requests) in [(0, 7.0), (2, 1.0), (5, 0.0), (10, 3.5), (20, 14.0), (24, 0.1)] {
            history.note(at(seconds), &rates(requests));
        }
        let (line, most) = history.sparkline(at(24), 6, |span| span.requests);
        assert_eq!((line.as_str(), most), ("▅▁▃ █", PerSecond::rounded(14.0)));
        let (line, most) = history.sparkline(at(12), 2, |span| span.requests);
        assert_eq!((line.as_str(), most), ("▁█", PerSecond::rounded(3.5)), "a frozen picture ends at its own time");
    }

    #[test]
    fn old_spans_are_forgotten() {
        let mut history = History::default();
        for seconds in 0..10_000 {
            history.note(at(seconds), &rates(1.0));
        }
        assert_eq!(history.0.len(), MOST_SPANS);
        assert_eq!(history.sparkline(at(9_999), 70, |span| span.requests).0.trim_start().chars().count(), MOST_SPANS);
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_nanos(seconds * 1_000_000_000)
    }

    fn rates(requests: f64) -> Rates {
        Rates { requests_per_second: PerSecond::rounded(requests), ..Rates::default() }
    }
}
