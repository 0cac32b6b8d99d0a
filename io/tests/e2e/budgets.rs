//! Budgets of agents' work and loops: told in time, then refused so that no client asks again, until the Operator resumes.

use serde_json::{Value, json};

use crate::harness::{JSON, Places, Tslp, failure};
use crate::upstream::{Answer, Reply, Upstream};
use tslp_scripted::Response;

/// An agent's conversation in one dialect.
pub(crate) struct Agent<'t> {
    tslp: &'t Tslp<'t>,
    upstream: &'t Upstream,
    path: &'static str,
    messages: Vec<Value>,
}

impl<'t> Agent<'t> {
    pub(crate) fn new(
        tslp: &'t Tslp<'t>,
        upstream: &'t Upstream,
        path: &'static str,
        task: &str,
    ) -> Self {
        let messages = vec![json!({"role": "user", "content": task})];
        Self {
            tslp,
            upstream,
            path,
            messages,
        }
    }

    fn send(&self) -> Response {
        let tool = match self.path {
            "/v1/messages" => json!({"name": "Bash", "input_schema": {}}),
            "/v1/responses" => json!({"type": "function", "name": "bash"}),
            _ => json!({"type": "function", "function": {"name": "bash"}}),
        };
        let field = match self.path {
            "/v1/responses" => "input",
            _ => "messages",
        };
        let request = json!({"model": "m", "max_tokens": 9, "stream": false, field: self.messages, "tools": [tool]});
        let mut client = self.tslp.client();
        client.send("POST", self.path, &[JSON], request.to_string().as_bytes());
        client.response()
    }

    /// The model calls a shell, which the client runs. The prompt as the model saw it.
    fn step(&mut self, line: &str, result: &str) -> String {
        self.call("bash", &json!({ "command": line }), result)
    }

    pub(crate) fn call(&mut self, name: &str, arguments: &Value, result: &str) -> String {
        let (call, reply, answer) = if self.path == "/v1/messages" {
            let content =
                json!([{"type": "tool_use", "id": "t", "name": name, "input": arguments}]);
            let usage = json!({"input_tokens": 900, "output_tokens": 100});
            let reply = json!({"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use", "usage": usage});
            let result = json!([{"type": "tool_result", "tool_use_id": "t", "content": result}]);
            let call = json!({"role": "assistant", "content": content});
            (call, reply, json!({"role": "user", "content": result}))
        } else if self.path == "/v1/responses" {
            let call = json!({"type": "function_call", "call_id": "t", "name": name, "arguments": arguments.to_string()});
            let usage = json!({"input_tokens": 900, "output_tokens": 100});
            let reply = json!({"object": "response", "status": "completed", "output": [call], "usage": usage});
            let answer = json!({"type": "function_call_output", "call_id": "t", "output": result});
            (call, reply, answer)
        } else if self.path == "/api/chat" {
            let calls = json!([{"function": {"name": name, "arguments": arguments}}]);
            let call = json!({"role": "assistant", "content": "", "tool_calls": calls});
            let reply = json!({"model": "m", "message": call, "done": true, "prompt_eval_count": 900, "eval_count": 100});
            (call, reply, json!({"role": "tool", "content": result}))
        } else {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            let calls = json!([{"id": "t", "type": "function", "function": function}]);
            let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
            let usage = json!({"prompt_tokens": 900, "completion_tokens": 100});
            let reply = json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": usage});
            let answer = json!({"role": "tool", "tool_call_id": "t", "content": result});
            (message, reply, answer)
        };
        let body = reply.to_string().into_bytes();
        self.upstream
            .will(Answer::Plain(200, "application/json", body));
        let response = self.send();
        assert_eq!(response.status(), 200, "{arguments}");
        // A client goes on from what it got.
        let call = match response.json().pointer("/choices/0/message") {
            Some(got) => got.clone(),
            None => call,
        };
        self.messages.extend([call, answer]);
        self.upstream.next().text()
    }

    /// The model ends its turn with these words.
    pub(crate) fn ends(&mut self, words: &str) {
        self.upstream.will_say(words);
        assert_eq!(self.send().status(), 200);
        self.upstream.next();
        self.messages
            .push(json!({"role": "assistant", "content": words}));
    }

    /// The user asks for something more.
    pub(crate) fn asks(&mut self, words: &str) {
        self.messages
            .push(json!({"role": "user", "content": words}));
    }

    /// The request is refused; what is said.
    fn refused(&self) -> String {
        let response = self.send();
        assert_eq!(response.status(), 400);
        let error = &response.json()["error"];
        let message = error.as_str().or(error["message"].as_str());
        message.unwrap().to_owned()
    }
}

const PATHS: [&str; 2] = ["/v1/chat/completions", "/v1/messages"];

const NEARLY: &str = "Nine tenths of what the user allows";

/// law 8.5 | What agents may use is counted; at nine tenths model and user are told, at the end prompts are not sent until the Operator resumes | budget_nearly_used, agent_budget_used
#[test]
fn end_of_conversation() {
    for (at, path) in PATHS.into_iter().enumerate() {
        let (upstream, places) = (Upstream::start(), Places::new());
        let budget = ["--budget-conversation", "tokens 10k"];
        let tslp = Tslp::with(&places, &upstream.url, &budget);
        let mut agent = Agent::new(&tslp, &upstream, path, "Tidy up.");
        let told: Vec<bool> = (0..10)
            .map(|at| agent.step(&format!("ls {at}"), "a").contains(NEARLY))
            .collect();
        // Each step is told 1,000 tokens, and what was told stays in the conversation.
        assert_eq!(told, [[false; 9].as_slice(), &[true]].concat());
        let said = agent.refused();
        assert!(
            said.starts_with(
                "BUDGET-EXHAUSTED: a conversation may use 10000 tokens, and 10000 are used"
            ),
            "{said}"
        );
        let mut other = Agent::new(&tslp, &upstream, path, "Something else.");
        other.step("ls", "a");
        match at {
            // Both ways of letting it go on.
            0 => assert_eq!(places.cli_json(&["resume"]).0, 0),
            _ => agent
                .messages
                .push(json!({"role": "user", "content": "@tslp resume\nGo on."})),
        }
        agent.step("ls again", "a");
        tslp.stop();
        let (code, verified) = places.cli_json(&["verify", "--deep"]);
        assert_eq!(code, 0, "{verified}");
    }
}

/// A day's budget counts all conversations and side requests.
#[test]
fn budget_of_a_day() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let arguments = ["--budget-day", "requests 3"];
    let tslp = Tslp::with(&places, &upstream.url, &arguments);
    for task in ["One.", "Two.", "Three."] {
        Agent::new(&tslp, &upstream, PATHS[0], task).step("ls", task);
    }
    let said = Agent::new(&tslp, &upstream, PATHS[0], "Four.").refused();
    assert!(
        said.starts_with("BUDGET-EXHAUSTED: a day may use 3 requests, and 4 are used"),
        "{said}"
    );
    let title = "Generate a concise title for this conversation.";
    Agent::new(&tslp, &upstream, PATHS[0], title).refused();
    tslp.stop();
    // It holds across a restart.
    let tslp = Tslp::with(&places, &upstream.url, &arguments);
    Agent::new(&tslp, &upstream, PATHS[0], "Five.").refused();
    let (_, status) = places.cli_json(&["status", "guard"]);
    assert_eq!(status["work"][0]["requests"], 6, "{status}");
    tslp.stop();
}

/// A goal has a budget of its own until it is done.
#[test]
fn budget_of_a_goal() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::start(&places, &upstream);
    // Before the goal: none of its work.
    Agent::new(&tslp, &upstream, PATHS[0], "Look around.").step("ls", "a");
    assert_eq!(places.cli_json(&["goal", "budget: tokens 4k"]).0, 1);
    places.cli_json(&["goal", "Tidy up"]);
    for money in ["budget: money 5", "budget: a lot", "budget:"] {
        assert_eq!(places.cli_json(&["goal", money]).0, 1, "{money}");
    }
    assert_eq!(places.cli_json(&["goal", "budget: tokens 4k"]).0, 0);
    let told: Vec<bool> = (0..4)
        .map(|at| {
            let mut agent = Agent::new(&tslp, &upstream, PATHS[0], &format!("Task {at}."));
            agent.step("ls", "a").contains(NEARLY)
        })
        .collect();
    assert_eq!(told, [false; 4]);
    let over = "BUDGET-EXHAUSTED: the goal may use 4000 tokens, and 4000 are used";
    let said = Agent::new(&tslp, &upstream, PATHS[0], "One more.").refused();
    assert!(said.starts_with(over), "{said}");
    let output = places.in_workspace(&["status", "guard"]).output();
    let status = String::from_utf8(output.unwrap().stdout).unwrap();
    let line = "all for the goal used 5 requests, 4000 of 4000 tokens";
    assert!(status.contains(line), "{status}");
    tslp.stop();
    // It holds across a restart, until the user says more in the prompt itself.
    let tslp = Tslp::start(&places, &upstream);
    Agent::new(&tslp, &upstream, PATHS[1], "And now?").refused();
    let raised = "@tslp goal budget: tokens 4400\nAnd now?";
    let seen = Agent::new(&tslp, &upstream, PATHS[1], raised).step("ls", "a");
    assert!(seen.contains(NEARLY), "{seen}");
    Agent::new(&tslp, &upstream, PATHS[1], "Again?").refused();
    assert_eq!(places.cli_json(&["goal", "done"]).0, 0);
    Agent::new(&tslp, &upstream, PATHS[1], "Again?").step("ls", "a");
    tslp.stop();
    let (code, verified) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(code, 0, "{verified}");
}

/// Files, builds and tests count by what the client is asked to do.
#[test]
fn counted_work() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let budget = ["--budget-conversation", "builds 9, tests 9, files 9"];
    let tslp = Tslp::with(&places, &upstream.url, &budget);
    let mut agent = Agent::new(&tslp, &upstream, PATHS[0], "Build it.");
    agent.step("cd sub && cargo build --release 2>&1 | tail -3", "ok");
    agent.step("cargo test -q; pytest -x; npm test && make check", "ok");
    agent.step("ls && grep -rn test . && git status", "ok");
    agent.step("make -j4 all && gcc -o a a.c", "ok");
    let (_, status) = places.cli_json(&["status", "guard"]);
    let work = status["work"].as_array().unwrap();
    let own = work.iter().find(|row| row["session"] != 0).unwrap();
    assert_eq!(
        (&own["builds"], &own["tests"]),
        (&json!(3), &json!(4)),
        "{status}"
    );
    let (_, error) = failure(places.in_workspace(&["config", "--budget-day", "dollars 5"]));
    assert!(
        error.contains("`dollars` isn't counted: requests, tokens"),
        "{error}"
    );
    tslp.stop();
}

/// law 8.5 | A loop of the same call is told, and ends where the Guardian holds calls | call_repeated
#[test]
fn same_call_and_result() {
    let dialects = PATHS.into_iter().chain(["/v1/responses", "/api/chat"]);
    let modes = ["strict", "observe", "off"];
    for (path, mode) in dialects.flat_map(|path| modes.map(|mode| (path, mode))) {
        let (upstream, places) = (Upstream::start(), Places::new());
        let tslp = Tslp::with(&places, &upstream.url, &["--guardian-client-tools", mode]);
        let mut agent = Agent::new(&tslp, &upstream, path, "Find it.");
        let repeated = "third one with the same arguments and the same result, and you changed nothing between them";
        // Some clients put a number and a time in front of an output.
        let result =
            |at: u32| format!("Chunk ID: 34ab3{at}\nWall time: 0.{at} seconds\nOutput:\na\n");
        for at in 0..3 {
            assert!(!agent.step("ls", &result(at)).contains(repeated));
        }
        let told = agent.step("ls", &result(4));
        assert!(told.contains(repeated), "{path} {mode}: {told}");
        let seen = tslp.log();
        assert!(
            seen.contains("The model has made the same call three times"),
            "{path} {mode}: {seen}"
        );
        if mode == "strict" {
            let said = agent.refused();
            assert!(
                said.starts_with("RECURSIVE-LOOP: the model has made the same call 4 times"),
                "{said}"
            );
        }
        // The user's next prompt goes on.
        agent
            .messages
            .push(json!({"role": "user", "content": "Look in src."}));
        agent.step("ls src", "b");
        tslp.stop();
        let (code, verified) = places.cli_json(&["verify", "--deep"]);
        assert_eq!(code, 0, "{verified}");
    }
}

/// law 8.5 | A file that is written in vain again and again is told | file_rewritten
#[test]
fn refused_three_times() {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write(
        "a.py",
        "def one():\n    return 1\n\n\ndef two():\n    return 2\n",
    );
    let tslp = Tslp::with(&places, &upstream.url, &["--repair", "tell"]);
    let mut agent = Agent::new(&tslp, &upstream, PATHS[0], "Let `one` in a.py return 3.");
    let told = "a.py was written three times in the last five replies";
    for at in 0..3 {
        let code = format!("def one():\n    return {at}\n");
        let write = json!({"path": "a.py", "content": code});
        let saw = agent.call("write", &write, &format!("Wrote file {at}"));
        assert!(!saw.contains(told), "{saw}");
    }
    assert!(agent.step("ls", "a.py").contains(told));
    tslp.stop();
}

/// law 8.5 | Many files changed by other hands while an agent is at work are asked about; under hold its loop ends | many_files_changed
#[test]
fn changed_by_others() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let write_all = |count: usize, value: usize| {
        for at in 0..count {
            places.write(
                &format!("m{at}.py"),
                &format!("def f{at}():\n    return {value}\n"),
            );
        }
    };
    write_all(25, 1);
    assert_eq!(places.cli_json(&["adopt", "."]).0, 0);
    let hold = ["--guardian-client-tools", "strict"];
    let tslp = Tslp::with(&places, &upstream.url, &hold);
    let named: Vec<String> = (0..25).map(|at| format!("m{at}.py")).collect();
    let task = format!("Look at {}.", named.join(", "));
    let asked = "changed by other hands since your last step";
    let mut agent = Agent::new(&tslp, &upstream, PATHS[0], &task);
    agent.step("ls 1", "a");
    write_all(5, 2);
    assert!(!agent.step("ls 2", "b").contains(asked));
    write_all(12, 3);
    assert!(agent.step("ls 3", "c").contains(asked));
    write_all(25, 4);
    let said = agent.refused();
    assert!(
        said.starts_with("DRIFT: 25 files were changed by other hands"),
        "{said}"
    );
    agent
        .messages
        .push(json!({"role": "user", "content": "That was me. Go on."}));
    agent.step("ls 4", "d");
    tslp.stop();
}

/// A reply of a server that says what it read and wrote.
fn said(read: u64, written: u64) -> Reply {
    Reply::text("ok").costing(read, written)
}

/// What models used is told by day, model and conversation, and a budget bounds its cost.
#[test]
fn usage_and_cost() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let money = [
        "--price",
        "dear* 100 1000, m 0 0",
        "--budget-day",
        "money 0.25",
    ];
    let tslp = Tslp::with(&places, &upstream.url, &money);
    let ask = |model: &str, text: &str| {
        tslp.chat(&json!({"model": model, "messages": [{"role": "user", "content": text}]}))
    };
    for (model, text) in [("dear-1", "a"), ("dear-1", "b"), ("m", "c")] {
        upstream.will(said(1000, 10));
        let response = ask(model, text);
        assert_eq!(response.status(), 200);
        tslp.ended(response.episode());
    }
    // No model reads so much: what isn't believed is estimated.
    upstream.will(said(u64::from(u32::MAX), 10));
    tslp.ended(ask("m", "d").episode());
    // A tenth and a hundredth each; 500 tokens more would cost another twentieth.
    let refused = ask("dear-1", &"abc ".repeat(500));
    assert_eq!(refused.status(), 400);
    let message = refused.json()["error"]["message"].to_string();
    let figures = "BUDGET-EXHAUSTED: a day may use 0.25 money, and 0.22 are used";
    assert!(message.contains(figures), "{message}");
    assert_eq!(ask("m", &"abc ".repeat(500)).status(), 200);
    tslp.at_rest();
    let (_, page) = places.cli_json(&["status", "usage"]);
    let rows = page["usage"].as_array().unwrap();
    let dear: Vec<&Value> = rows.iter().filter(|row| row["model"] == "dear-1").collect();
    assert_eq!(dear.len(), 2, "two conversations: {page}");
    for row in dear {
        let figures = (&row["read"], &row["written"], &row["cost"]);
        assert_eq!(figures, (&json!(1000), &json!(10), &json!("0.11")));
    }
    let output = places.in_workspace(&["status", "usage"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let status = places.in_workspace(&["status", "guard"]).output().unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(status.contains("0.22 of 0.25 money"), "{status}");
    let line = "dear-1: 2 requests, 2000 tokens read (0 from the cache), 20 written, cost 0.22";
    assert!(text.contains(line), "{text}");
}

#[test]
fn too_long_prompt() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let budget = ["--budget-prompt", "tokens 300"];
    let tslp = Tslp::with(&places, &upstream.url, &budget);
    let ask = |words: usize| {
        let text = "abc ".repeat(words);
        tslp.chat(&json!({"model": "m", "messages": [{"role": "user", "content": text}]}))
    };
    let refused = ask(400);
    assert_eq!(refused.status(), 400);
    let message = refused.json()["error"]["message"].to_string();
    assert!(
        message.contains("a prompt may use 300 tokens") && message.contains("budget.prompt"),
        "{message}"
    );
    assert!(upstream.saw_nothing());
    assert_eq!(ask(100).status(), 200);
    tslp.stop();
    let deep = places.in_workspace(&["verify", "--deep"]).output().unwrap();
    assert!(deep.status.success(), "{deep:?}");
}

#[test]
fn uncountable_units() {
    let places = Places::new();
    for (flag, budget) in [
        ("--budget-conversation", "money 1"),
        ("--budget-prompt", "files 1"),
        ("--price", "m 1"),
        ("--price", "m 99999999999999999999 1"),
        ("--price", "m 99999999999999.1 1"),
        ("--budget-day", "money 1.1234567"),
    ] {
        let output = places
            .in_workspace(&["serve", flag, budget])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{flag} {budget}: {output:?}");
    }
}
