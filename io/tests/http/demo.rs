//! The demo model behind the loop.

use std::time::Duration;

use tslp_io::demo_model;

use crate::harness::{Engine, Proxy};

#[test]
fn answers_through_loop() {
    let model = demo_model::start(Duration::ZERO).unwrap();
    let proxy = Proxy::start(&model.url(), Engine::Echo);
    let mut client = proxy.client();
    let models = client.send(proxy.get("/v1/models")).message();
    assert!(models.text().contains("\"tslp-demo\""));
    let whole = client
        .send(proxy.chat("{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}"))
        .message();
    let value: serde_json::Value = serde_json::from_slice(&whole.body).unwrap();
    let expected = value["choices"][0]["message"]["content"]
        .as_str()
        .unwrap()
        .to_owned();
    let body = "{\"stream\":true,\"stream_options\":{\"include_usage\":true},\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";
    let streamed = client.send(proxy.chat(body)).message().text();
    let mut text = String::new();
    let mut usages = 0;
    for data in streamed
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| *data != "[DONE]")
    {
        let event: serde_json::Value = serde_json::from_str(data).unwrap();
        text.push_str(
            event["choices"][0]["delta"]["content"]
                .as_str()
                .unwrap_or_default(),
        );
        usages += usize::from(event["usage"].is_object());
    }
    assert_eq!((text, usages), (expected, 1));
    assert!(streamed.ends_with("data: [DONE]\n\n"));
}
