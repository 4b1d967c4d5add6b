//! Proxies of the environment: this machine is never reached through one.

use std::process::Command;

use super::server::answer;
use super::*;

/// The variable with the proxy's port, for the inner test.
const PROXY: &str = "HERMA_TEST_PROXY_PORT";

/// A test can't change the environment of its process, so the inner test runs in another one.
#[test]
fn proxies_are_for_other_machines() {
    let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = proxy.local_addr().unwrap().port();
    drop(proxy);
    let url = format!("http://127.0.0.1:{port}");
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "owners::summarizer::tests::proxies::inner", "--ignored", "--nocapture"])
        .envs(["http_proxy", "https_proxy", "all_proxy"].map(|name| (name, &url)))
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .env(PROXY, port.to_string())
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && words.contains("1 passed"), "{words}");
}

#[tokio::test]
#[ignore = "runs in a process of its own, with a proxy in its environment"]
async fn inner() {
    let body = r#"{"choices": [{"message": {"content": "here"}}]}"#;
    let server = Server::start(vec![answer("200 OK", &[], body)]).await;
    for host in ["127.0.0.1", "localhost", "127.9.9.9"] {
        let text = format!("[summarizer.openai]\nbase_url = \"http://{host}:{}\"\nmodel = \"m\"\n{SHORT}", server.port);
        let written = summarizers(&text).write(Kind::OpenAi, call("p", &Main::default())).await;
        // The server listens at one address only. The test only requires that no proxy was used.
        assert!(written.is_ok() || host == "127.9.9.9", "{host}: {written:?}");
    }
    let before = server.requests().len();
    let port: u16 = std::env::var(PROXY).unwrap().parse().unwrap();
    let proxy = Server::start_at(port, vec![answer("200 OK", &[], body)]).await;
    let text = format!("[summarizer.openai]\nbase_url = \"http://model.invalid/v1\"\nmodel = \"m\"\n{SHORT}");
    summarizers(&text).write(Kind::OpenAi, call("p", &Main::default())).await.unwrap();
    assert!(proxy.requests()[0].head.starts_with("POST http://model.invalid/v1/chat/completions "));
    assert_eq!(server.requests().len(), before);
}
