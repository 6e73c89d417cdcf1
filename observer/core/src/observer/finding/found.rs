//! The type of a finding: one diagnosis of a run, with evidence and advice.

use serde::Serialize;

use crate::exchange::{Client, Shape};
use crate::finding_kind::FindingKind;
use crate::reflector::{ReflectorId, Spell};

/// One diagnosis, with evidence and advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Identifier for muting: kind, program, resource and scope. It is the same in the next run.
    pub id: String,
    /// Kind of the diagnosis.
    pub kind: FindingKind,
    /// The client; `None` if the finding may concern several clients, such as a finding about lists or about a storm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
    /// Resource, objects and options that it concerns.
    #[serde(flatten)]
    pub shape: Shape,
    /// The reflectors that it concerns, or some of them; empty if no reflector makes these requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reflectors: Vec<ReflectorId>,
    /// How often it occurred, since when and until when; `None` if this is not recorded. An ongoing finding has no end.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub spell: Option<Spell>,
    /// Amount in the unit of its kind: relists, lists, watches, objects, informers, or microseconds.
    pub amount: u64,
    /// The evidence, in words and numbers.
    pub seen: String,
    /// The recommended change.
    pub advice: &'static str,
}

impl Finding {
    /// Whether it is ongoing.
    pub fn lasts(&self) -> bool {
        self.spell.is_some_and(Spell::lasts)
    }

    /// Whether it is over; unknown for findings without times, which therefore are not.
    pub(in crate::observer) fn is_over(&self) -> bool {
        self.spell.is_some_and(|spell| !spell.lasts())
    }
}

/// Whether `muted` has the identifier of a finding, or its kind with a colon.
pub(in crate::observer) fn is_muted(id: &str, muted: &[String]) -> bool {
    muted.iter().any(|muted| id == muted || (muted.ends_with(':') && id.starts_with(muted)))
}

pub(super) fn finding(
    kind: FindingKind,
    client: Option<Client>,
    shape: Shape,
    reflectors: Vec<ReflectorId>,
    seen: String,
) -> Finding {
    let program = client.as_ref().map_or("", |client| client.program.as_str());
    let scope = shape.scope.as_ref().map(|scope| format!("/{scope}")).unwrap_or_default();
    let id = format!("{kind}:{program}:{}{scope}", shape.resource).replace(' ', "-");
    Finding { id, kind, client, shape, reflectors, spell: None, amount: 0, seen, advice: kind.advice() }
}
