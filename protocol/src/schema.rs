//! Generates `protocol/schema.json`, from which clients in other languages are generated. The
//! schema is derived from the declarations and never edited. `HERMA_BLESS=1 cargo test -p
//! herma-protocol schema` writes it.
//!
//! All of this is compiled for tests only, so that shipped programs contain no schema code.

#![expect(clippy::disallowed_methods, reason = "the file is made for the repository")]

mod names;
mod values;

use std::fs;
use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::{
    constraint, context, daemon, files, for_each_method, guard, ledger, memory, output, profile, recall, session,
    shared, trajectory, version,
};

/// The path of the schema.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schema.json");

/// Collects the schema. Params are described as they are read, results as they are written: an
/// optional param may be null, and a field that a result leaves out is never null.
struct Export {
    params: SchemaGenerator,
    results: SchemaGenerator,
    methods: Vec<Value>,
}

macro_rules! rows {
    ($($(#[doc = $doc:literal])+ $variant:ident $function:ident $name:literal $effect:ident $order:ident $params:ty => $result:ty;)*) => {
        impl Export {
            /// Adds all methods, in the order of the table.
            fn add_all(&mut self) {
                $(
                    let params = self.params.root_schema_for::<$params>();
                    let result = self.results.subschema_for::<$result>();
                    self.add($name, stringify!($effect), concat!($($doc),+), params, &result);
                )*
            }
        }
    };
}

for_each_method!(rows);

impl Export {
    fn new() -> Self {
        let settings = || SchemaSettings::draft2020_12().with_transform(Plain);
        Self {
            params: settings().for_deserialize().into_generator(),
            results: settings().for_serialize().with_transform(NeverNull).into_generator(),
            methods: Vec::new(),
        }
    }

    fn add(&mut self, name: &str, effect: &str, doc: &str, mut params: Schema, result: &Schema) {
        for outer in ["$schema", "$defs", "title"] {
            params.remove(outer);
        }
        let doc = doc.trim();
        self.methods.push(json!({"name": name, "effect": effect, "doc": doc, "params": params, "result": result}));
    }

    fn finish(mut self) -> Value {
        let mut defs = self.params.take_definitions(true);
        for (name, def) in self.results.take_definitions(true) {
            let said = defs.entry(name.clone()).or_insert_with(|| def.clone());
            assert_eq!(*said, def, "{name} is read in another form than it is written");
        }
        let mut schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "protocol": version::PROTOCOL,
            "methods": self.methods,
            "$defs": defs,
        });
        names::settle(&mut schema);
        schema
    }
}

/// Removes details that don't affect the JSON: sizes of integers and null defaults.
#[derive(Clone)]
struct Plain;

impl Transform for Plain {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        schema.remove("format");
        schema.remove("default");
    }
}

/// Removes null from the types of fields that are left out instead.
#[derive(Clone)]
struct NeverNull;

impl Transform for NeverNull {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let required = schema.get("required").cloned().unwrap_or_default();
        let is_required = |name: &String| required.as_array().is_some_and(|all| all.iter().any(|one| one == name));
        let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
        for (_, property) in properties.iter_mut().filter(|(name, _)| !is_required(name)) {
            if let Value::Object(property) = property {
                never_null(property);
            }
        }
    }
}

fn never_null(property: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|one| one != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            property.insert("type".into(), one);
        }
    }
    if let Some(Value::Array(forms)) = property.get_mut("anyOf") {
        forms.retain(|form| form != &json!({"type": "null"}));
        if let [Value::Object(form)] = forms.as_slice() {
            let form = form.clone();
            property.remove("anyOf");
            property.extend(form);
        }
    }
}

#[test]
fn the_file_says_what_the_declarations_say() {
    let mut export = Export::new();
    export.add_all();
    let schema = serde_json::to_string_pretty(&export.finish()).unwrap_or_default() + "\n";
    if std::env::var_os("HERMA_BLESS").is_some() {
        assert!(fs::write(Path::new(FILE), &schema).is_ok(), "{FILE} can't be written");
    }
    let kept = fs::read_to_string(FILE).unwrap_or_default();
    let differs = kept.lines().zip(schema.lines()).position(|(kept, told)| kept != told);
    assert!(
        kept == schema,
        "protocol/schema.json is not what the declarations say from line {} on; \
         HERMA_BLESS=1 cargo test -p herma-protocol schema writes it",
        differs.unwrap_or(0) + 1,
    );
}
