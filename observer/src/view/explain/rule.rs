//! The explanations of rules and of proofs.

use observer_core::routing::{Proof, Rule};
use serde::Serialize;

use super::layout::{ExplainFormat, heading, line};
use crate::printable::{Printable, json};
use crate::view::colour::Colour;
use crate::view::json::EXPLAIN_SCHEMA;

/// The explanation of a proof.
pub fn explain_proof(proof: &Proof, format: ExplainFormat, colour: Colour) -> serde_json::Result<Printable> {
    #[derive(Serialize)]
    struct Document<'p> {
        schema: &'static str,
        proof: &'p str,
        sentence: &'p str,
        section: &'p str,
        upstream: &'p str,
    }
    let Proof { id, sentence, section, upstream } = *proof;
    if format == ExplainFormat::Json {
        let document = Document { schema: EXPLAIN_SCHEMA, proof: id.as_str(), sentence, section, upstream };
        return json(&document);
    }
    let mut out = heading(id.as_str(), "", colour);
    for (label, text) in [("proves", sentence), ("upstream", upstream)] {
        line(label, text, &mut out);
    }
    Ok(out)
}

/// The explanation of a rule.
pub fn explain_rule(rule: &Rule, format: ExplainFormat, colour: Colour) -> serde_json::Result<Printable> {
    #[derive(Serialize)]
    struct Document<'r> {
        schema: &'static str,
        rule: &'r str,
        sentence: &'r str,
        etcd_reads: String,
        section: &'r str,
        upstream: &'r str,
    }
    if format == ExplainFormat::Json {
        let document = Document {
            schema: EXPLAIN_SCHEMA,
            rule: rule.id.as_str(),
            sentence: rule.sentence,
            etcd_reads: rule.reads.to_string(),
            section: rule.section,
            upstream: rule.upstream,
        };
        return json(&document);
    }
    let mut out = heading(rule.id.as_str(), "", colour);
    for (label, text) in [("why", rule.sentence), ("etcd reads", &rule.reads.to_string()), ("upstream", rule.upstream)] {
        line(label, text, &mut out);
    }
    Ok(out)
}
