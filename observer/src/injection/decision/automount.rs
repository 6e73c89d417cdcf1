//! Whether admission would mount a token of the pod's ServiceAccount into its containers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::decide::Subject;
use crate::injection::options::Options;

/// The service accounts of the input.
#[derive(Clone, Debug, Default)]
pub(in crate::injection) struct ServiceAccounts {
    /// Whether tokens of each account are mounted.
    mounts: BTreeMap<Account, bool>,
    /// The accounts that are not in the input, and about which there was a warning.
    warned: BTreeSet<Account>,
}

/// A ServiceAccount.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::injection) struct Account {
    /// As far as the manifest names it.
    namespace: Option<String>,
    name: String,
}

/// Where a pod without a mount of its own gets its token from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Admission mounts one.
    Mounted,
    /// The pod wants none.
    Withheld,
    WithheldByAccount(Account),
    /// The ServiceAccount is not in the input.
    Unknown(Account),
}

impl ServiceAccounts {
    /// Takes the service accounts of a document.
    pub(in crate::injection) fn learn(&mut self, document: &Value) {
        if let Some(Value::Array(items)) = document.get("items") {
            for item in items {
                self.learn_one(item);
            }
        }
        self.learn_one(document);
    }

    fn learn_one(&mut self, object: &Value) {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        if (text("/apiVersion"), text("/kind")) != (Some("v1"), Some("ServiceAccount")) {
            return;
        }
        let Some(name) = text("/metadata/name") else { return };
        let mounts = object.get("automountServiceAccountToken") != Some(&Value::Bool(false));
        self.mounts.insert(Account::new(text("/metadata/namespace"), name), mounts);
    }

    /// Whether tokens of an account are mounted. Charts leave out the namespace in some objects and not in others; it is the same one.
    fn mounts(&self, account: &Account) -> Option<bool> {
        let is_same = |known: &Account| {
            known.name == account.name
                && (known.namespace == account.namespace || known.namespace.is_none() || account.namespace.is_none())
        };
        let settings = self.mounts.iter().filter(|(known, _)| is_same(known)).map(|(_, mounts)| *mounts);
        self.mounts.get(account).copied().or_else(|| settings.reduce(|one, other| one && other))
    }

    /// The warning about an account that is not in the input, the first time: many pods have the same one.
    pub(in crate::injection) fn warn_of(&mut self, account: Account) -> Option<String> {
        let warning = format!(
            "ServiceAccount {account} is not in the input: if it sets automountServiceAccountToken: false, its pods now get a token \
             that it withheld; pass both together to check, or --service-account-token to accept"
        );
        self.warned.insert(account).then_some(warning)
    }
}

impl Account {
    fn new(namespace: Option<&str>, name: &str) -> Self {
        Self { namespace: namespace.map(str::to_owned), name: name.to_owned() }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.namespace.iter().try_for_each(|namespace| write!(f, "{namespace}/"))?;
        f.write_str(&self.name)
    }
}

/// The pod's own setting counts before that of its ServiceAccount.
pub(super) fn token(subject: &Subject<'_>, options: &Options, accounts: &ServiceAccounts) -> Token {
    let spec = subject.spec();
    match spec.get("automountServiceAccountToken") {
        Some(Value::Bool(true)) => return Token::Mounted,
        Some(Value::Bool(false)) => return Token::Withheld,
        Some(_) | None => {}
    }
    if options.service_account_token {
        return Token::Mounted;
    }
    let account = ["serviceAccountName", "serviceAccount"].iter().find_map(|key| spec.get(key).and_then(Value::as_str));
    let account = Account::new(subject.namespace(), account.filter(|account| !account.is_empty()).unwrap_or("default"));
    match accounts.mounts(&account) {
        Some(true) => Token::Mounted,
        Some(false) => Token::WithheldByAccount(account),
        None => Token::Unknown(account),
    }
}

impl Token {
    /// The account that is not in the input.
    pub(super) fn unknown_account(self) -> Option<Account> {
        match self {
            Self::Unknown(account) => Some(account),
            Self::Mounted | Self::Withheld | Self::WithheldByAccount(_) => None,
        }
    }
}
