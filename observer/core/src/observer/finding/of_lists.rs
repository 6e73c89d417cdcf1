//! Derives the findings about lists of all clients.

use super::advice::{self, FALLS_BACK, UNCACHED};
use super::found::{Finding, finding};
use crate::exchange::{Scope, Shape};
use crate::finding_kind::FindingKind;
use crate::observer::rows::ListRow;
use crate::quantity::{self, count, counted};
use crate::reflector::{ListsFrom, ReflectorId, ReflectorRow};
use crate::routing::ServedFrom;
use crate::thresholds::{FILTERED_TO, HEAVY_OBJECTS, LONG_LIST, SLOW_BYTES, WAIT_FOR_CACHE};
use crate::time::microseconds;

/// Minimum number of lists whose median counts as their usual time.
const ENOUGH_LISTS: u64 = 4;

/// All findings about `lists`. `minor_of` returns the minor release of the API server of a shape.
pub(super) fn of_lists<'f>(
    lists: &'f [ListRow],
    reflectors: &'f [ReflectorRow],
    minor_of: impl Fn(&Shape) -> Option<u16> + 'f,
) -> impl Iterator<Item = Finding> + 'f {
    lists.iter().flat_map(move |row| {
        let found = [
            from_etcd(row, reflectors, minor_of(&row.shape)),
            filtered(row, lists, reflectors),
            fell_back(row),
            ignored_limit(row, reflectors),
        ];
        // Few rows have a finding, so only then are the reflectors compared with the row.
        found.into_iter().flatten().map(move |finding| {
            let is_meant = |reflector: &&ReflectorRow| finding.kind != FindingKind::IgnoredLimit || expects_pages(reflector);
            let ids: Vec<ReflectorId> = listers(row, reflectors).filter(is_meant).map(|reflector| reflector.reflector).collect();
            Finding { reflectors: ids, ..finding }
        })
    })
}

/// The reflectors that list the objects of `row`. The presence of a selector must be the same; no other option is compared.
fn listers<'r>(row: &'r ListRow, reflectors: &'r [ReflectorRow]) -> impl Iterator<Item = &'r ReflectorRow> {
    let shape = &row.shape;
    reflectors.iter().filter(move |reflector| {
        let own = &reflector.shape;
        (&own.resource, &own.scope, &own.upstream) == (&shape.resource, &shape.scope, &shape.upstream)
            && own.has_selector() == shape.has_selector()
            && reflector.list_requests > 0
    })
}

fn from_etcd(row: &ListRow, reflectors: &[ReflectorRow], minor: Option<u16>) -> Option<Finding> {
    let verdict = row.verdict.as_ref()?;
    let is_heavy = if let Some(of_each) = row.items.checked_div(row.count) {
        of_each >= HEAVY_OBJECTS
    } else {
        // A log has no number of objects. A list that fell back waited for the watch cache first.
        let waited = if verdict.rule == FALLS_BACK { microseconds(WAIT_FOR_CACHE) } else { 0 };
        row.total_us.saturating_sub(waited) >= microseconds(LONG_LIST) && may_be_large(&row.shape)
    };
    let is_bulk = !matches!(row.shape.scope, Some(Scope::Namespace(_))) && is_heavy && verdict.rule != UNCACHED;
    (verdict.served_from == ServedFrom::Etcd && is_bulk).then(|| {
        let (lists, rule) = (counted(row.count, "list"), verdict.rule);
        let seen = match row.items.known() {
            Some(items) => format!("{lists} read {} from etcd ({rule})", counted(items, "object")),
            None => format!("{lists} read etcd, and took {} each ({rule})", quantity::microseconds(row.total_us)),
        };
        let they_watch = listers(row, reflectors).any(ReflectorRow::has_watched);
        let advice = advice::to_list_from_etcd(row, they_watch, minor);
        Finding {
            advice,
            amount: row.items.or_zero(),
            ..finding(FindingKind::ListsFromEtcd, None, row.shape.clone(), Vec::new(), seen)
        }
    })
}

/// Whether a list of this shape may read many objects.
fn may_be_large(shape: &Shape) -> bool {
    !shape.names_one() && shape.limit().is_none_or(|limit| limit >= HEAVY_OBJECTS)
}

/// A list with a selector that read far more objects than it returned, if the total number of objects is known.
fn filtered(row: &ListRow, lists: &[ListRow], reflectors: &[ReflectorRow]) -> Option<Finding> {
    let verdict = row.verdict.as_ref().filter(|verdict| verdict.served_from == ServedFrom::Etcd)?;
    if !row.shape.has_selector() || row.shape.is_in_pages() || row.shape.names_one() {
        return None;
    }
    let unselected = Shape { options: String::new(), ..row.shape.clone() };
    let same = |shape: &Shape| !shape.has_selector() && Shape { options: String::new(), ..shape.clone() } == unselected;
    let whole = |list: &&ListRow| same(&list.shape) && !list.shape.is_in_pages();
    let listed = lists.iter().filter(whole).filter_map(|list| list.items.checked_div(list.count));
    let kept = reflectors.iter().filter(|row| same(&row.shape) && row.has_watched()).filter_map(|row| row.objects.known());
    let there = listed.chain(kept).max()?;
    let given = row.items.checked_div(row.count)?;
    (there >= HEAVY_OBJECTS && given <= there / FILTERED_TO).then(|| {
        let seen = format!(
            "{} read all {} objects from etcd to return {} ({})",
            counted(row.count, "list"),
            count(there),
            count(given),
            verdict.rule
        );
        Finding {
            advice: advice::to_filter(row),
            amount: row.count,
            ..finding(FindingKind::FilterAfterReading, None, row.shape.clone(), Vec::new(), seen)
        }
    })
}

/// Consistent reads that took as long as the API server waits for its watch cache. The time alone is no proof.
fn fell_back(row: &ListRow) -> Option<Finding> {
    // If most lists of this shape take as long and are large, it is their size.
    let usual = row.first_byte_us.filter(|_| row.count >= ENOUGH_LISTS);
    let is_usual = usual.is_some_and(|usual| usual >= microseconds(WAIT_FOR_CACHE));
    let is_large = row.bytes.checked_div(row.count).is_some_and(|bytes| bytes >= SLOW_BYTES);
    let verdict = row.verdict.as_ref().filter(|_| row.waited_for_cache > 0 && !(is_usual && is_large))?;
    let seen = format!(
        "{} took 3 s or more until the answer began: perhaps the watch cache lagged, and etcd was read ({})",
        counted(row.waited_for_cache, "consistent list"),
        verdict.rule
    );
    let found = finding(FindingKind::ConsistentReadFellBack, None, row.shape.clone(), Vec::new(), seen);
    Some(Finding { amount: row.waited_for_cache, ..found })
}

/// Whether it lists with `resourceVersion=0` and never watches.
fn expects_pages(reflector: &ReflectorRow) -> bool {
    reflector.lists_from == Some(ListsFrom::Any) && !reflector.has_watched()
}

/// Informers of client-go send a limit with `resourceVersion=0` and expect everything, so their lists are no finding.
fn ignored_limit(row: &ListRow, reflectors: &[ReflectorRow]) -> Option<Finding> {
    (row.ignored_limit > 0 && listers(row, reflectors).any(expects_pages)).then(|| {
        let seen = format!(
            "{} returned {} in one response each: the watch cache ignores a limit with resourceVersion=0",
            counted(row.ignored_limit, "list"),
            counted(row.items.checked_div(row.count).unwrap_or(0), "object")
        );
        let found = finding(FindingKind::IgnoredLimit, None, row.shape.clone(), Vec::new(), seen);
        Finding { amount: row.ignored_limit, ..found }
    })
}
