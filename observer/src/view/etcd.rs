//! The reads from etcd, in words.

use observer_core::observer::{EtcdLoad, FindingKind, Snapshot, Totals};

use super::colour::Tone;
use super::quantity::{bytes, count, counted, counted_as};

/// `31 of 446 lists served from etcd (31 objects, 16 kB)`.
pub(super) fn lists(totals: &Totals) -> String {
    let words = format!("{} of {} served from etcd", count(totals.lists_from_etcd), counted(totals.lists, "list"));
    if totals.lists_from_etcd == 0 {
        return words;
    }
    let reads = &totals.etcd_reads;
    format!("{words} ({}, {})", counted(reads.objects, "object"), bytes(reads.bytes))
}

/// `20 gets from etcd (9.0 kB)`; `None` without gets.
pub(super) fn gets(totals: &Totals) -> Option<String> {
    let reads = &totals.etcd_reads;
    (reads.gets > 0).then(|| format!("{} from etcd ({})", counted(reads.gets, "get"), bytes(reads.get_bytes)))
}

/// `from etcd: 31 of 446 lists (16 kB returned), perhaps 2 more, 20 gets, 3 watches`, where space is short.
pub(super) fn short(snapshot: &Snapshot) -> String {
    let totals = &snapshot.totals;
    let reads = &totals.etcd_reads;
    let perhaps = snapshot.findings.iter().filter(|finding| finding.kind == FindingKind::ConsistentReadFellBack);
    let fell_back = perhaps.map(|finding| finding.amount).fold(0, u64::saturating_add);
    let perhaps = if fell_back > 0 { format!(", perhaps {} more", count(fell_back)) } else { String::new() };
    let weight = if totals.lists_from_etcd > 0 { format!(" ({} returned)", bytes(reads.bytes)) } else { String::new() };
    let gets = if reads.gets > 0 { format!(", {}", counted(reads.gets, "get")) } else { String::new() };
    let watches = if reads.watches > 0 { format!(", {}", counted_as(reads.watches, "watch", "watches")) } else { String::new() };
    let from_etcd = bound(totals.lists_from_etcd, totals.lists_unknown);
    format!("from etcd: {from_etcd} of {}{weight}{perhaps}{gets}{watches}", counted(totals.lists, "list"))
}

/// `3`, `≥ 3` if the layer of other lists is `unknown`, `?` if that is all that is known.
pub(super) fn bound(from_etcd: u64, unknown: u64) -> String {
    match (from_etcd, unknown) {
        (known, 0) => count(known),
        (0, _) => "?".to_owned(),
        (known, _) => format!("≥ {}", count(known)),
    }
}

/// Red for a heavy load.
pub(super) const fn tone(load: EtcdLoad) -> Tone {
    match load {
        EtcdLoad::None => Tone::Good,
        EtcdLoad::Light => Tone::Plain,
        EtcdLoad::Heavy => Tone::Bad,
    }
}

#[cfg(test)]
mod tests {
    use observer_core::observer::{EtcdReads, Limits, Observer};

    use super::*;

    #[test]
    fn etcd_lists_show_their_volume_and_gets_separately() {
        let etcd_reads = EtcdReads {
            objects: 31_u64.into(),
            bytes: 16_000_u64.into(),
            bulk_lists: 0,
            gets: 20,
            get_bytes: 9_000_u64.into(),
            watches: 3,
        };
        let totals = Totals { lists: 446, lists_from_etcd: 31, etcd_reads, ..Totals::default() };
        assert_eq!(lists(&totals), "31 of 446 lists served from etcd (31 objects, 16 kB)");
        assert_eq!(gets(&totals).as_deref(), Some("20 gets from etcd (9.0 kB)"));
        let snapshot = Snapshot { totals: totals.clone(), ..Observer::new(Limits::default()).snapshot() };
        assert_eq!(short(&snapshot), "from etcd: 31 of 446 lists (16 kB returned), 20 gets, 3 watches");
        assert_eq!(lists(&Totals { lists: 1, ..Totals::default() }), "0 of 1 list served from etcd");
        assert_eq!(gets(&Totals::default()), None);
        assert_eq!(short(&Observer::new(Limits::default()).snapshot()), "from etcd: 0 of 0 lists");
    }
}
