//! `watchtap explain`.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use observer_core::http::Target;
use observer_core::k8s::{ListOptions, RequestInfo};
use observer_core::routing::{Rule, ServerProfile, all_proofs, all_rules, proof, rule};

use super::flags::ProfileFlags;
use super::output::Format;
use crate::api_server::gates_without_effect;
use crate::printable::{Printable, print_error, print_message, stdout};
use crate::view::{Colour, Explained, explain_proof, explain_request, explain_rule};

/// Explains, without a cluster, which layer of the API server answers a request, by which rule, and what it reads from etcd.
///
/// The argument is a request (`GET /api/v1/pods?limit=500`), or the identifier of a rule or of a proof from a report.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  watchtap explain 'GET /api/v1/pods?limit=500' --server-version 1.34.2
  watchtap explain 'GET /apis/apps/v1/deployments?watch=true&resourceVersion=0' --server-version 1.33.1 --gate WatchList=true
  watchtap explain 'GET /api/v1/pods' --server-version 1.31.0 --etcd-version 3.5.10
  watchtap explain 'PATCH /api/v1/namespaces/default/pods/web-0'
  watchtap explain list-unset-consistent

It prints which layer answers in every version. With --server-version, it first explains
that version in detail.")]
pub(super) struct Explain {
    /// METHOD URL (the URL may carry scheme, host and query), or the identifier of a rule or of a proof
    #[arg(value_name = "REQUEST|RULE|PROOF")]
    subject: String,

    #[command(flatten)]
    profile: ProfileFlags,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Explain {
    pub(super) fn run(&self) -> ExitCode {
        match self.explain().and_then(|text| Ok(stdout().print(&text)?)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                print_error(&error);
                ExitCode::FAILURE
            }
        }
    }

    fn explain(&self) -> Result<Printable> {
        let colour = Colour::for_stdout();
        let profile = self.profile.overrides().over(ServerProfile::default());
        for sentence in gates_without_effect(&profile) {
            print_message(sentence);
        }
        let subject = self.subject.trim();
        let Some((method, url)) = subject.split_once(char::is_whitespace) else {
            if let Some(proof) = proof(subject) {
                return Ok(explain_proof(proof, self.format.into(), colour)?);
            }
            return Ok(explain_rule(found_rule(subject)?, self.format.into(), colour)?);
        };
        let (info, target) = parse_request(method, url.trim())?;
        let shown = shown(method, &target);
        let explained = Explained::of(&shown, &info, &target.query, &profile)
            .with_context(|| format!("`{shown}` reads or writes no object; only requests about stored objects can be explained"))?;
        Ok(explain_request(&explained, self.format.into(), colour)?)
    }
}

fn found_rule(id: &str) -> Result<&'static Rule> {
    rule(id).with_context(|| {
        let rules = all_rules().map(|rule| rule.id.as_str());
        let proofs = all_proofs().map(|proof| proof.id.as_str());
        let near: Vec<&str> = rules.chain(proofs).filter(|known| shares_a_word(known, id)).take(6).collect();
        let hint = if near.is_empty() { String::new() } else { format!("; similar: {}", near.join(", ")) };
        format!("`{id}` is neither a request (METHOD URL) nor the identifier of a rule or a proof{hint}")
    })
}

fn shares_a_word(known: &str, id: &str) -> bool {
    known.split('-').any(|word| word.len() > 3 && id.split('-').any(|other| other == word))
}

/// The request in a form that can be shown. A request pasted from a log may hold a token in its query, or a password in its host.
fn shown(method: &str, target: &Target) -> String {
    let question_mark = if target.query.is_empty() { "" } else { "?" };
    format!("{method} {}{question_mark}{}", target.path, target.query)
}

/// Parses `METHOD URL` as kube-apiserver does.
fn parse_request(method: &str, url: &str) -> Result<(RequestInfo, Target)> {
    let method = method.to_ascii_uppercase();
    if !matches!(method.as_str(), "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE") {
        bail!("`{method}` is not a method of the Kubernetes API; GET, HEAD, POST, PUT, PATCH and DELETE are");
    }
    let origin = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').and_then(|slash| rest.get(slash..)).unwrap_or("/"),
        None => url,
    };
    if !origin.starts_with('/') {
        bail!("the URL has no path; it begins with /api/ or /apis/");
    }
    let target = Target::parse(origin.as_bytes());
    let options = ListOptions::parse(&target.query);
    Ok((RequestInfo::parse(&method, &target.path, &options, ""), target))
}
