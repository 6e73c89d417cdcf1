//! JSON Patch (RFC 6902) with bounds. A library performs the operations, and this module limits their cost.
//!
//! Ten thousand operations can double an object ten thousand times, nest it ten thousand levels deep, or shift a long list each
//! time. So before each operation, this module computes the number of values that it visits and the depth of its result.

use json_patch::jsonptr::Pointer;
use json_patch::{PatchOperation, patch_unsafe};
use serde_json::Value;

use super::error::Error;

/// Maximum number of operations in one patch: `maxJSONPatchOperations` in `pkg/endpoints/handlers/patch.go` of k8s.io/apiserver
/// 1.34.
const MAX_OPERATIONS: usize = 10_000;
/// Maximum number of values that all operations of a patch together may copy, measure or shift.
const MAX_WORK: usize = 10_000_000;
/// Maximum sum of the values and the bytes of strings that all `copy` operations of a patch together may create. kube-apiserver
/// limits copies to 3 MiB of JSON.
const MAX_COPIED: usize = 3 * 1024 * 1024;
/// Maximum nesting depth of a patched object, the same as that of the parser.
const MAX_DEPTH: usize = 128;

/// Applies the operations in order. If one fails, the patch fails.
pub(super) fn apply(object: &Value, patch: &[u8]) -> Result<Value, Error> {
    let operations: Vec<Value> =
        serde_json::from_slice(patch).map_err(|error| Error::bad_request(format!("error decoding patch: {error}")))?;
    if operations.len() > MAX_OPERATIONS {
        let message = format!("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}", operations.len());
        return Err(Error::too_large(message));
    }
    let mut patched = object.clone();
    let mut account = Account::default();
    for operation in operations {
        if !operation.is_object() {
            return Err(Error::bad_request("error decoding patch: an operation is not a JSON object"));
        }
        let operation: PatchOperation = serde_json::from_value(operation).map_err(|_reason| refused())?;
        account.charge(&patched, &operation)?;
        if tests_absence(&patched, &operation) {
            continue;
        }
        patch_unsafe(&mut patched, &[operation]).map_err(|_reason| refused())?;
    }
    if patched.is_object() { Ok(patched) } else { Err(refused()) }
}

/// Whether the operation tests for null, and the field does not exist. The API server's library accepts that, and clients such as the
/// finalizers of kube-rs rely on it (evanphx/json-patch v4.13, `Patch.test`).
fn tests_absence(object: &Value, operation: &PatchOperation) -> bool {
    let PatchOperation::Test(test) = operation else { return false };
    let parent = test.path.parent().and_then(|parent| object.pointer(parent.as_str()));
    test.value.is_null() && parent.is_some_and(Value::is_object) && object.pointer(test.path.as_str()).is_none()
}

/// The error for an operation that fails. As in the API server's answer, the operation is not named.
fn refused() -> Error {
    Error::unprocessable("the server rejected our request due to an error in our request")
}

/// The cost of a patch's operations so far.
#[derive(Default)]
struct Account {
    work: usize,
    copied: usize,
}

impl Account {
    fn charge(&mut self, object: &Value, operation: &PatchOperation) -> Result<(), Error> {
        match operation {
            PatchOperation::Add(add) => {
                self.shift(object, &add.path)?;
                self.nest(&add.path, measured(&add.value))
            }
            PatchOperation::Replace(replace) => self.nest(&replace.path, measured(&replace.value)),
            PatchOperation::Remove(remove) => self.shift(object, &remove.path),
            PatchOperation::Move(moved) => {
                self.shift(object, &moved.from)?;
                self.shift(object, &moved.path)?;
                self.nest(&moved.path, source(object, &moved.from)?)
            }
            PatchOperation::Copy(copy) => {
                self.shift(object, &copy.path)?;
                let size = source(object, &copy.from)?;
                self.copied = self.copied.saturating_add(size.values).saturating_add(size.text);
                if self.copied > MAX_COPIED {
                    return Err(Error::too_large(format!("the copies of a JSON patch are limited to {MAX_COPIED} bytes")));
                }
                self.nest(&copy.path, size)
            }
            PatchOperation::Test(_) => Ok(()),
        }
    }

    /// Adds the cost of moving the other elements, if an operation adds to a list or an object or removes from it.
    fn shift(&mut self, object: &Value, path: &Pointer) -> Result<(), Error> {
        let parent = path.parent().and_then(|parent| object.pointer(parent.as_str()));
        let length = parent.map_or(0, |parent| match parent {
            Value::Array(elements) => elements.len(),
            Value::Object(fields) => fields.len(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        });
        self.work(length)
    }

    fn nest(&mut self, path: &Pointer, size: Size) -> Result<(), Error> {
        if path.count() + size.depth > MAX_DEPTH {
            return Err(Error::too_large(format!("a JSON patch may nest an object {MAX_DEPTH} levels deep")));
        }
        self.work(size.values)
    }

    fn work(&mut self, values: usize) -> Result<(), Error> {
        self.work = self.work.saturating_add(values);
        if self.work > MAX_WORK { Err(Error::too_large("the operations of the JSON patch move too many values")) } else { Ok(()) }
    }
}

/// The size of a value.
#[derive(Clone, Copy, Default)]
struct Size {
    values: usize,
    /// Bytes of names and strings.
    text: usize,
    depth: usize,
}

fn source(object: &Value, from: &Pointer) -> Result<Size, Error> {
    object.pointer(from.as_str()).map(measured).ok_or_else(refused)
}

/// Measures a value recursively. The parser and [`MAX_DEPTH`] bound the nesting.
fn measured(value: &Value) -> Size {
    let inside = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Size::default(),
        Value::String(text) => Size { text: text.len(), ..Size::default() },
        Value::Array(elements) => elements.iter().map(measured).fold(Size::default(), Size::beside),
        Value::Object(fields) => fields.iter().fold(Size::default(), |all, (name, value)| {
            all.beside(measured(value)).beside(Size { text: name.len(), ..Size::default() })
        }),
    };
    Size { values: inside.values + 1, depth: inside.depth + 1, ..inside }
}

impl Size {
    fn beside(self, other: Self) -> Self {
        Self { values: self.values + other.values, text: self.text + other.text, depth: self.depth.max(other.depth) }
    }
}
