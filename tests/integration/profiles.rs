//! Profiles: named pairs of stores with their own limits.

use std::fs;

use herma_protocol::memory::Target;
use herma_tests::{Daemon, Home, Raw, kind};
use serde_json::{Value, json};

fn list(raw: &mut Raw) -> Value {
    raw.result("profile.list", &json!({}))["profiles"].take()
}

fn names(raw: &mut Raw) -> Vec<String> {
    list(raw).as_array().unwrap().iter().map(|profile| profile["name"].as_str().unwrap().to_owned()).collect()
}

/// Returns the folders of profiles in the home.
fn folders(home: &Home) -> Vec<String> {
    let Ok(found) = fs::read_dir(home.path().join("profiles")) else { return Vec::new() };
    found.map(|folder| folder.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_profile_is_made_once_and_listed_behind_the_default_one() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let default = json!({ "name": "default", "memory_limit": 2200, "user_limit": 1375 });
    assert_eq!(list(&mut raw), json!([default]));
    for (name, created) in [("work", true), ("Home_2-b", true), ("work", false), ("default", false)] {
        let result = raw.result("profile.create", &json!({ "name": name }));
        assert_eq!(result["created"].as_bool(), Some(created), "{name}");
    }
    assert!(home.path().join("profiles/work/memories").is_dir());
    let mut found = names(&mut raw);
    assert_eq!(found[0], "default");
    found.sort();
    assert_eq!(found, ["Home_2-b", "default", "work"]);
    daemon.kill();
    let daemon = Daemon::start(&home);
    assert_eq!(names(&mut daemon.raw()).len(), 3);
}

#[test]
fn a_profile_has_the_limits_that_the_configuration_gives_it() {
    let config = "[memory]\nmemory_limit = 100\n[memory.profiles.tiny]\nmemory_limit = 10\nuser_limit = 20\n[memory.profiles.half]\nuser_limit = 30\n";
    let home = Home::configured(config);
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for name in ["tiny", "half", "plain"] {
        raw.result("profile.create", &json!({ "name": name }));
    }
    let limits: Vec<Value> = list(&mut raw).as_array().unwrap().clone();
    for (name, memory_limit, user_limit) in
        [("default", 100, 1375), ("tiny", 10, 20), ("half", 100, 30), ("plain", 100, 1375)]
    {
        let expected = json!({ "name": name, "memory_limit": memory_limit, "user_limit": user_limit });
        assert!(limits.contains(&expected), "{expected} in {limits:?}");
        for (target, limit) in [("memory", memory_limit), ("user", user_limit)] {
            let mut add = |length: usize| {
                let params = json!({ "target": target, "content": "x".repeat(length), "profile": name });
                raw.result("memory.add", &params)
            };
            let refused = add(limit + 1);
            assert_eq!((&refused["success"], &refused["over_by"]), (&json!(false), &json!(1)), "{name}: {refused}");
            let added = add(limit);
            assert_eq!(added["success"], true, "{name}: {added}");
            assert!(added["usage"].as_str().unwrap().starts_with("100% — "), "{name}: {added}");
        }
        let view = raw.result("memory.list", &json!({ "profile": name }));
        assert_eq!(view["memory"]["over_limit"], false, "{view}");
    }
}

#[test]
fn a_configured_profile_that_can_t_be_or_hold_anything_is_refused_at_the_start() {
    for (section, words) in [
        ("[memory.profiles.\"../x\"]\nuser_limit = 9\n", "../x"),
        ("[memory.profiles.work]\nuser_limit = 0\n", "at least 1"),
        ("[memory.profiles.work]\nuser_limits = 9\n", "user_limit"),
        ("[memory.profiles.work]\napproval = true\n", "approval"),
    ] {
        let exit = Daemon::refused(&Home::configured(section));
        assert!(exit.code != Some(0) && exit.words.contains(words), "{section}: {exit:?}");
    }
}

#[test]
fn what_names_an_unknown_profile_is_not_found_and_makes_none() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (method, params) in [
        ("memory.add", json!({ "target": "user", "content": "x" })),
        ("memory.replace", json!({ "target": "user", "old_text": "x", "content": "y" })),
        ("memory.remove", json!({ "target": "user", "old_text": "x" })),
        ("memory.batch", json!({ "target": "user", "operations": [{ "action": "add", "content": "x" }] })),
        ("memory.tool", json!({ "arguments": { "action": "add", "target": "user", "content": "x" } })),
        ("memory.list", json!({})),
        ("memory.log", json!({})),
        ("memory.undo", json!({ "target": "user" })),
        ("memory.restore", json!({ "target": "user", "revision": 0 })),
        ("memory.pending", json!({})),
        ("memory.approve", json!({ "all": true })),
        ("memory.reject", json!({ "all": true })),
    ] {
        let mut named = params.clone();
        named["profile"] = json!("wrok");
        let reply = raw.call(method, &named);
        assert_eq!(kind(&reply), "not_found", "{method}: {reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains("wrok"), "{reply}");
        assert_eq!(folders(&home), [""; 0], "{method}");
        assert!(!home.path().join("herma/journal/wrok").exists(), "{method}");
    }
    assert_eq!(names(&mut raw), ["default"]);
}

#[test]
fn opening_a_session_makes_its_profile() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let opened = raw.result("session.open", &json!({ "session": "s", "profile": "work" }));
    assert_eq!(opened["resumed"], false, "{opened}");
    assert_eq!((folders(&home), names(&mut raw)), (vec!["work".to_owned()], vec!["default".to_owned(), "work".into()]));
    let added = raw.result("memory.add", &json!({ "target": "user", "content": "x", "profile": "work" }));
    assert_eq!(added["success"], true, "{added}");
    assert_eq!(home.entries(Target::User), [""; 0]);
    // The session stays in the profile in which it was opened.
    let other = raw.call("session.open", &json!({ "session": "s", "profile": "home" }));
    assert_eq!(kind(&other), "conflict", "{other}");
    assert_eq!(folders(&home), ["work"]);
}

#[test]
fn a_name_that_could_be_no_folder_is_refused_everywhere() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let long = "x".repeat(65);
    for name in ["", "../x", "..", ".", "a/b", "/tmp", "a b", "a.b", "é", "a\u{0}", "~", long.as_str()] {
        for (method, params) in [
            ("profile.create", json!({ "name": name })),
            ("session.open", json!({ "session": "s", "profile": name })),
            ("memory.add", json!({ "target": "user", "content": "x", "profile": name })),
            ("memory.list", json!({ "profile": name })),
        ] {
            let reply = raw.call(method, &params);
            assert_eq!(kind(&reply), "invalid_params", "{method} {name:?}: {reply}");
        }
    }
    assert_eq!(names(&mut raw), ["default"]);
    assert_eq!(raw.result("profile.create", &json!({ "name": "x".repeat(64) }))["created"], true);
    assert_eq!(kind(&raw.call("profile.create", &json!({}))), "invalid_params");
}

#[test]
fn profiles_have_histories_and_revisions_of_their_own() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("profile.create", &json!({ "name": "work" }));
    for (number, profile) in ["default", "work", "work", "default", "work"].into_iter().enumerate() {
        let params = json!({ "target": "user", "content": number.to_string(), "profile": profile });
        raw.result("memory.add", &params);
    }
    for (profile, revisions) in [("default", json!([2, 1])), ("work", json!([3, 2, 1]))] {
        let log = raw.result("memory.log", &json!({ "profile": profile }));
        let found: Vec<&Value> = log["rows"].as_array().unwrap().iter().map(|row| &row["revision"]).collect();
        assert_eq!(json!(found), revisions, "{profile}");
    }
    let undone = raw.result("memory.undo", &json!({ "target": "user", "profile": "work" }));
    assert_eq!(undone["entries"], json!(["1", "2"]));
    assert_eq!(home.entries(Target::User), ["0", "3"]);
}

#[test]
fn what_is_no_profile_is_not_listed() {
    let home = Home::new();
    let profiles = home.path().join("profiles");
    for folder in ["real/memories", "without", "bad name/memories", "default/memories"] {
        fs::create_dir_all(profiles.join(folder)).unwrap();
    }
    fs::write(profiles.join("file"), "").unwrap();
    let daemon = Daemon::start(&home);
    assert_eq!(names(&mut daemon.raw()), ["default", "real"]);
}

#[test]
fn a_profile_that_was_removed_is_not_found() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("profile.create", &json!({ "name": "work" }));
    let params = json!({ "target": "user", "content": "x", "profile": "work" });
    raw.result("memory.add", &params);
    fs::remove_dir_all(home.path().join("profiles/work")).unwrap();
    let reply = raw.call("memory.add", &params);
    assert_eq!(kind(&reply), "not_found", "{reply}");
    assert_eq!(folders(&home), [""; 0]);
}

#[test]
fn an_output_belongs_to_the_profile_of_its_session() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("session.open", &json!({ "session": "s", "profile": "work" }));
    let params = json!({ "session": "s", "tool": "t", "id": "c", "content": "cobalt\n".repeat(9), "threshold": 0 });
    let admitted = raw.result("output.admit", &params);
    let (handle, path) = (&admitted["handle"], &admitted["path"]);
    for profile in ["default", "other"] {
        for (method, params) in [
            ("output.read", json!({ "handle": handle })),
            ("output.read", json!({ "path": path })),
            ("output.search", json!({ "query": "cobalt", "handle": handle })),
            ("output.remove", json!({ "handle": handle })),
            ("recall.expand", json!({ "handle": handle })),
        ] {
            let mut params = params;
            params["profile"] = json!(profile);
            let reply = raw.call(method, &params);
            assert_eq!(kind(&reply), "conflict", "{method} {profile}: {reply}");
        }
        for (method, list) in [("output.search", "matches"), ("output.list", "outputs"), ("recall.search", "hits")] {
            let mut params = json!({ "profile": profile });
            if method != "output.list" {
                params["query"] = json!("cobalt");
            }
            assert_eq!(raw.result(method, &params)[list], json!([]), "{method} {profile}");
        }
    }
    let own = json!({ "query": "cobalt", "profile": "work" });
    assert_eq!(raw.result("recall.search", &own)["hits"].as_array().unwrap().len(), 1);
    assert_eq!(raw.result("output.search", &own)["matches"].as_array().unwrap().len(), 9);
    assert_eq!(raw.result("output.remove", &json!({ "handle": handle, "profile": "work" }))["bytes"], 63);
}
