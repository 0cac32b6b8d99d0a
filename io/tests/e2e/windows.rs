//! Prompts that are longer than what their model reads: seen by what the server tells, or by what it says that it read.

use serde_json::{Value, json};

use crate::harness::{Places, RING, Tslp, eventually, user};
use crate::upstream::{Reply, Upstream};
use tslp_scripted::Response;

/// Words of a prompt of about so many tokens, four characters each.
fn words(tokens: usize) -> String {
    "abc ".repeat(tokens)
}

/// The exit code and the output of a command.
fn said_by(places: &Places, arguments: &[&str]) -> (i32, String) {
    let output = places.in_workspace(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code().unwrap(), said)
}

fn ask(tslp: &Tslp<'_>, model: &str, messages: &[Value]) -> Response {
    tslp.chat(&json!({"model": model, "messages": messages}))
}

/// A reply of a server that says that it read so many tokens.
fn read(tokens: usize) -> Reply {
    Reply::text("ok").costing(tokens as u64, 1)
}

/// What servers tell of a model that reads 4,096 tokens, and what lets it read more.
fn servers() -> Vec<(Value, &'static str)> {
    let listed =
        json!({"data": [{"id": "m", "max_model_len": 4096}, {"id": "n", "max_model_len": 65536}]});
    let loaded = json!({"models": [{"name": "other", "context_length": 131_072}, {"name": "m:latest", "context_length": 4096}]});
    let shown = json!({"data": [{"id": "m", "state": "loaded", "max_context_length": 131_072, "loaded_context_length": 4096}]});
    vec![
        (json!({"/v1/models": listed}), "--max-model-len 16384"),
        (json!({"/api/ps": loaded}), "OLLAMA_CONTEXT_LENGTH=16384"),
        (json!({"/api/v0/models": shown}), "16384 in LM Studio"),
        (
            json!({"/props": {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 4}}),
            "--ctx-size 16384",
        ),
        (
            json!({"/props": {"n_ctx": 8192, "total_slots": 2}}),
            "--ctx-size 16384",
        ),
    ]
}

/// What is far too long is said before the reply, by what each server tells.
#[test]
fn far_too_long() {
    for (pages, remedy) in servers() {
        let (places, upstream) = (Places::new(), Upstream::start());
        upstream.will_tell(pages);
        let tslp = Tslp::start(&places, &upstream);
        // Nobody waits for the server's pages.
        let (response, header) = eventually(|| {
            let response = ask(&tslp, "m", &[user(&words(9000))]);
            let header = response.header("x-tslp-window").map(str::to_owned);
            header.map(|header| (response, header))
        });
        assert!(header.ends_with("; window=4096"), "{header}");
        let text = response.json()["choices"][0]["message"]["content"].to_string();
        assert!(
            text.contains("m reads 4096 tokens") && text.contains(remedy),
            "{text}"
        );
        let episode = tslp.ended(response.episode());
        assert_eq!(episode["window"]["window"], 4096, "{episode}");
        let (_, recent) = said_by(&places, &["recent"]);
        assert!(recent.contains("window: m reads 4096 tokens"), "{recent}");
        let (_, doctor) = said_by(&places, &["doctor"]);
        assert!(doctor.contains(remedy), "{doctor}");
        let short = ask(&tslp, "m", &[user("hi")]);
        assert_eq!(short.header("x-tslp-window"), None);
    }
}

/// Ollama cuts to half a window or takes out the oldest messages; its answer is 200 both times.
#[test]
fn a_little_too_long() {
    for left in [2050, 3600] {
        for tells in [true, false] {
            let (places, upstream) = (Places::new(), Upstream::start());
            upstream.will_tell(match tells {
                true => {
                    json!({"/api/ps": {"models": [{"name": "m:latest", "context_length": 4096}]}})
                }
                false => json!({}),
            });
            let tslp = Tslp::start(&places, &upstream);
            let mut messages = Vec::new();
            let mut cut = Vec::new();
            for (tokens, says) in [(1500, 1510), (1200, 2720), (1200, 3930), (300, left)] {
                messages.push(user(&words(tokens)));
                upstream.will(read(says));
                let response = ask(&tslp, "m", &messages);
                let episode = tslp.ended(response.episode());
                cut.push(episode["window"]["read"].clone());
                messages.push(json!({"role": "assistant", "content": "ok"}));
            }
            let expected = [Value::Null, Value::Null, Value::Null, json!(left)];
            assert_eq!(cut, expected, "{tells}");
        }
    }
}

/// How servers make a prompt of so many tokens fit a window; what they say that they read.
type Cut = fn(usize, usize) -> usize;

/// The kinds of servers by what they tell of a model, each with how it cuts: Ollama keeps half of a window, or (since 0.40) takes the
/// oldest messages out; llama.cpp shifts half of a slot away; LM Studio leaves the middle out; vLLM keeps the end, where a client asks for that.
const CUTTERS: [(&str, Cut); 5] = [
    ("/api/ps", |_, window| window / 2 + 2),
    ("/api/ps", |whole, window| (whole * 3 / 5).min(window)),
    ("/props", |_, window| window / 2),
    ("/api/v0/models", |_, window| window - window / 4),
    ("/v1/models", |_, window| window - 1),
];

/// What a server tells of a model and its window on that page.
fn page(path: &str, model: &str, window: usize) -> Value {
    match path {
        "/api/ps" => {
            json!({path: {"models": [{"name": format!("{model}:latest"), "context_length": window}]}})
        }
        "/props" => {
            json!({path: {"default_generation_settings": {"n_ctx": window}, "total_slots": 2}})
        }
        "/v1/models" => json!({path: {"data": [{"id": model, "max_model_len": window}]}}),
        _ => {
            json!({path: {"data": [{"id": model, "state": "loaded", "loaded_context_length": window}]}})
        }
    }
}

/// Forty cuts: five servers, two windows, and four ways to get beyond them. Each shows, and nothing before it does.
#[test]
fn forty_cuts() {
    // Tokens of each new message, in tenths of the window. Each talk is with another model, which was swapped for the one before.
    const TALKS: [&[usize]; 4] = [
        // A little over it, in small steps.
        &[3, 3, 3, 2],
        // Far over it, at once.
        &[2, 2, 25],
        // With the first message.
        &[30],
        // About as much again.
        &[5, 15],
    ];
    let mut staged = 0;
    let servers = CUTTERS.into_iter();
    for ((path, cut), window) in servers.flat_map(|it| [2048, 4096].map(|window| (it, window))) {
        let (places, upstream) = (Places::new(), Upstream::start());
        upstream.will_tell(page(path, "first", window));
        let tslp = Tslp::start(&places, &upstream);
        for (at, talk) in TALKS.iter().enumerate() {
            let model = format!("m{at}");
            upstream.will_tell(page(path, &model, window));
            // The page is read once the model is used, and nobody waits for it.
            let long = window * 21 / 10;
            eventually(|| {
                upstream.will(read(long));
                let response = ask(&tslp, &model, &[user(&words(long))]);
                let header = response.header("x-tslp-window").map(str::to_owned);
                header.filter(|it| it.ends_with(&format!("window={window}")))
            });
            let mut messages = vec![user(&format!("Talk {at}."))];
            let mut whole = 10;
            for (step, part) in talk.iter().enumerate() {
                let tokens = window * part / 10;
                whole += tokens + 10;
                messages.push(user(&words(tokens)));
                let is_cut = whole > window;
                let says = if is_cut { cut(whole, window) } else { whole };
                upstream.will(read(says));
                let response = ask(&tslp, &model, &messages);
                let episode = tslp.ended(response.episode());
                let told = !episode["window"].is_null();
                assert_eq!(told, is_cut, "{path} {window} {talk:?} {step}: {episode}");
                assert_eq!(is_cut, step + 1 == talk.len(), "a talk ends with a cut");
                messages.push(json!({"role": "assistant", "content": "ok"}));
            }
            staged += 1;
        }
    }
    assert_eq!(staged, 40);
}

/// A model that is loaded with its first request is known after it.
#[test]
fn loaded_model() {
    let (places, upstream) = (Places::new(), Upstream::start());
    upstream.will_tell(json!({"/api/ps": {"models": []}}));
    let tslp = Tslp::start(&places, &upstream);
    let first = ask(&tslp, "m", &[user(&words(9000))]);
    assert_eq!(first.header("x-tslp-window"), None);
    let loaded = |name: &str, tokens: u32| json!({"/api/ps": {"models": [{"name": name, "context_length": tokens}]}});
    // Each is the server's only one while it is loaded.
    for (model, tokens) in [("m", 4096), ("n", 2048)] {
        upstream.will_tell(loaded(model, tokens));
        let window = eventually(|| {
            let response = ask(&tslp, model, &[user(&words(9000))]);
            response.header("x-tslp-window").map(str::to_owned)
        });
        assert!(window.ends_with(&format!("window={tokens}")), "{window}");
    }
}

/// law 8.5 | A prompt that its model wouldn't read to the end isn't sent, if the user wants that | window_exceeded
#[test]
fn refusing_guard() {
    let (places, upstream) = (Places::new(), Upstream::with_context(4096));
    let tslp = Tslp::with(&places, &upstream.url, &["--window-guard", "refuse"]);
    let refused = eventually(|| {
        let response = ask(&tslp, "m", &[user(&words(9000))]);
        (response.status() != 200).then_some(response)
    });
    assert_eq!(refused.status(), 400);
    let said = refused.json()["error"]["message"].to_string();
    assert!(
        said.contains("m reads 4096 tokens") && said.contains("was not sent"),
        "{said}"
    );
    while !upstream.saw_nothing() {
        upstream.next();
    }
    assert_eq!(ask(&tslp, "m", &[user(&words(9000))]).status(), 400);
    assert!(upstream.saw_nothing());
    // The refusal waits for no commit.
    let episode =
        eventually(|| Some(tslp.last_episode()).filter(|it| it["notices"][0] != Value::Null));
    assert_eq!(episode["notices"][0]["reason"], "window_exceeded");
    assert_eq!(episode["window"]["window"], 4096);
    assert_eq!(ask(&tslp, "m", &[user("hi")]).status(), 200);
    tslp.stop();
    let (code, said) = said_by(&places, &["verify", "--deep"]);
    assert_eq!(code, 0, "{said}");
}

/// What is the proxy's own gives way to what the client sends.
#[test]
fn room_for_conversation() {
    let (places, upstream) = (Places::new(), Upstream::with_context(4096));
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&crate::harness::fenced("src/ring.c", RING));
    let hydrated = |filling: usize| {
        let question = format!("{}\nExplain `ring_put`.", words(filling));
        let response = ask(&tslp, "m", &[user(&question)]);
        let episode = tslp.ended(response.episode());
        (episode["hydrated"].clone(), episode["withheld"].clone())
    };
    eventually(|| {
        let (shown, left_out) = hydrated(3300);
        (shown == json!([]) && left_out[0]["reason"] == "over_budget").then_some(())
    });
    let (shown, _) = hydrated(100);
    assert_eq!(shown[0]["entity"], "src/ring.c::ring_put");
}

/// What a preview knows of windows it asks and reads as the proxy does.
#[test]
fn preview_without_room() {
    let (places, upstream) = (Places::new(), Upstream::with_context(4096));
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&crate::harness::fenced("src/ring.c", RING));
    upstream.next();
    tslp.at_rest();
    let file = places.data.join("request.json");
    for (filling, has_room) in [(100, true), (3300, false)] {
        let question = format!("{}\nExplain `ring_put`.", words(filling));
        let request = json!({"model": "m", "messages": [user(&question)]});
        std::fs::write(&file, request.to_string()).unwrap();
        let mut command = places.in_workspace(&["preview", "--upstream", &upstream.url]);
        let command = command.arg("--request").arg(&file);
        let output = command.output().unwrap();
        let previewed = String::from_utf8(output.stdout.clone()).unwrap();
        assert_eq!(previewed.contains("r->slots"), has_room, "{output:?}");
    }
}
