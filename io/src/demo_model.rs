//! The built-in model server (`--upstream demo`): deterministic, local, speaks OpenAI chat completions.

mod script;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// Connections served at a time; more are closed.
const CONNECTIONS_MAX: usize = 256;
const STACK_BYTES: usize = 256 * 1024;

/// Bounds on requests; the proxy in front has its own.
const HEAD_BYTES_MAX: u64 = 64 * 1024;
const BODY_BYTES_MAX: usize = 64 << 20;

/// A server on loopback, ended when dropped.
#[derive(Debug)]
pub struct DemoModel {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl DemoModel {
    /// Starts with 5 ms between tokens.
    pub fn start() -> io::Result<Self> {
        Self::start_with_delay(Duration::from_millis(5))
    }

    /// Starts with this pause between tokens.
    pub fn start_with_delay(delay: Duration) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        thread::Builder::new()
            .name("tslp-demo".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || accept_clients(&listener, &stopped, delay))?;
        Ok(Self { address, stop })
    }

    /// The base address to use as upstream.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for DemoModel {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // Wakes the listener; if that fails, it ends with the process.
        let _ = TcpStream::connect(self.address);
    }
}

fn accept_clients(listener: &TcpListener, stop: &AtomicBool, delay: Duration) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if stop.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else {
            continue;
        };
        if open.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
            open.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let counted = Arc::clone(&open);
        let thread = thread::Builder::new()
            .name("tslp-demo-reply".to_owned())
            .stack_size(STACK_BYTES);
        let spawned = thread.spawn(move || {
            if let Err(error) = serve_client(stream, delay) {
                tracing::debug!(%error, "a demo connection ended");
            }
            counted.fetch_sub(1, Ordering::AcqRel);
        });
        if spawned.is_err() {
            open.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// The parts of a request that the demo reads.
struct DemoRequest {
    line: String,
    body: Vec<u8>,
}

fn serve_client(stream: TcpStream, delay: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader)? {
        let mut words = request.line.split(' ');
        match (words.next(), words.next()) {
            (Some("POST"), Some("/v1/chat/completions")) => {
                answer_chat(&mut writer, request.body, delay)?
            }
            (Some("GET"), Some("/v1/models")) => {
                let model =
                    json!({"id": "tslp-demo", "object": "model", "created": 0, "owned_by": "tslp"});
                write_response(
                    &mut writer,
                    "200 OK",
                    &json!({"object": "list", "data": [model]}),
                )?;
            }
            _ => write_response(
                &mut writer,
                "404 Not Found",
                &error_json("the demo model has no such route"),
            )?,
        }
    }
    Ok(())
}

fn read_request(reader: &mut BufReader<TcpStream>) -> io::Result<Option<DemoRequest>> {
    let mut head = reader.by_ref().take(HEAD_BYTES_MAX);
    let mut line = String::new();
    if head.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut length = 0;
    loop {
        let mut field = String::new();
        if head.read_line(&mut field)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let field = field.trim_end();
        if field.is_empty() {
            break;
        }
        if let Some((name, value)) = field.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value
                .trim()
                .parse()
                .map_err(|_| io::ErrorKind::InvalidData)?;
        }
    }
    if length > BODY_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(DemoRequest {
        line: line.trim_end().to_owned(),
        body,
    }))
}

fn error_json(message: &str) -> Value {
    json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}})
}

fn write_response(writer: &mut TcpStream, status: &str, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    writer.write_all(format!("{head}{body}").as_bytes())
}

fn answer_chat(writer: &mut TcpStream, body: Vec<u8>, delay: Duration) -> io::Result<()> {
    let Ok(request) = serde_json::from_slice::<Value>(&body) else {
        return write_response(
            writer,
            "400 Bad Request",
            &error_json("the body is not JSON"),
        );
    };
    let prompt_bytes = body.len();
    drop(body);
    let text = script::answer_request(&request);
    let usage = usage_json(prompt_bytes, &text);
    let streams = request["stream"] == true;
    let wants_usage = request["stream_options"]["include_usage"] == true;
    // The demo lives in the proxy's process, and its answers take seconds.
    drop(request);
    if streams {
        return stream_reply(writer, &text, wants_usage.then_some(usage), delay);
    }
    let choice = json!({
        "index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop", "logprobs": null,
    });
    let body = json!({
        "id": "chatcmpl-demo", "object": "chat.completion", "created": 0, "model": "tslp-demo",
        "choices": [choice], "usage": usage,
    });
    write_response(writer, "200 OK", &body)
}

/// Words stand in for tokens.
fn usage_json(prompt_bytes: usize, text: &str) -> Value {
    let (prompt, completion) = (prompt_bytes / 4, text.split_whitespace().count());
    json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion})
}

fn stream_reply(
    writer: &mut TcpStream,
    text: &str,
    usage: Option<Value>,
    delay: Duration,
) -> io::Result<()> {
    let head =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    writer.write_all(head)?;
    write_event(
        writer,
        &delta_json(&json!({"role": "assistant", "content": ""}), &Value::Null),
    )?;
    for word in text.split_inclusive([' ', '\n']) {
        thread::sleep(delay);
        write_event(writer, &delta_json(&json!({"content": word}), &Value::Null))?;
    }
    write_event(writer, &delta_json(&json!({}), &json!("stop")))?;
    if let Some(usage) = usage {
        let mut last = delta_json(&json!({}), &Value::Null);
        last["choices"] = json!([]);
        last["usage"] = usage;
        write_event(writer, &last)?;
    }
    writer.write_all(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
}

fn delta_json(delta: &Value, finish: &Value) -> Value {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish, "logprobs": null});
    json!({
        "id": "chatcmpl-demo", "object": "chat.completion.chunk", "created": 0, "model": "tslp-demo",
        "choices": [choice],
    })
}

fn write_event(writer: &mut TcpStream, value: &Value) -> io::Result<()> {
    let data = format!("data: {value}\n\n");
    writer.write_all(format!("{:x}\r\n{data}\r\n", data.len()).as_bytes())
}
