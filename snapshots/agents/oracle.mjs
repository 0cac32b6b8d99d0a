// The npm SDKs' readings: a line of JSON for each request on standard input, a line for each reading on standard output.
import { createInterface } from "node:readline";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const TOOLS = ["bash", "read", "write", "note", "plan", "status"];
const SCHEMA = { type: "object", properties: {} };

// The episode is in the answer's head, which the SDKs don't hand on.
let episode = null;
const asked = async (...given) => {
  const response = await fetch(...given);
  episode = response.headers.get("x-tslp-episode");
  return response;
};

async function aiSdk({ url, model, streams, offers, prompt }) {
  const provider = createOpenAICompatible({ name: "local", baseURL: `${url}/v1`, apiKey: "local", includeUsage: true, fetch: asked });
  const given = { prompt: [{ role: "user", content: [{ type: "text", text: prompt }] }] };
  if (offers) given.tools = TOOLS.map((name) => ({ type: "function", name, inputSchema: SCHEMA }));
  const said = { text: "", thoughts: "", calls: [], end: null, error: null };
  const errors = [];
  const take = (part) => {
    if (part.type === "text-delta") said.text += part.delta;
    else if (part.type === "text") said.text += part.text;
    else if (part.type === "reasoning-delta") said.thoughts += part.delta;
    else if (part.type === "reasoning") said.thoughts += part.text;
    else if (part.type === "tool-call") said.calls.push([part.toolName, part.input]);
    else if (part.type === "finish") said.end = part.finishReason.raw ?? null;
    else if (part.type === "error") errors.push(part.error?.name ?? "error");
  };
  try {
    if (streams) {
      const { stream } = await provider(model).doStream(given);
      for await (const part of stream) take(part);
    } else {
      const whole = await provider(model).doGenerate(given);
      whole.content.forEach(take);
      said.end = whole.finishReason.raw ?? null;
    }
  } catch (error) {
    errors.push(error.name);
  }
  said.error = errors.length ? errors.join(" ") : null;
  return said;
}

async function anthropic({ url, model, streams, offers, prompt }) {
  const client = new Anthropic({ baseURL: url, apiKey: "local", maxRetries: 0, logLevel: "off", fetch: asked });
  const given = { model, max_tokens: 4096, messages: [{ role: "user", content: prompt }] };
  if (offers) given.tools = TOOLS.map((name) => ({ name, input_schema: SCHEMA }));
  const said = { text: "", thoughts: "", calls: [], end: null, error: null };
  let message = null;
  try {
    if (streams) {
      const stream = client.messages.stream(given);
      // What it has rebuilt when it breaks off.
      stream.on("streamEvent", (_, snapshot) => (message = snapshot));
      message = await stream.finalMessage();
    } else {
      message = await client.messages.create(given);
    }
  } catch (error) {
    said.error = error.constructor.name;
  }
  for (const block of Array.isArray(message?.content) ? message.content : []) {
    if (block.type === "text") said.text += block.text;
    else if (block.type === "thinking") said.thoughts += block.thinking;
    else if (block.type === "tool_use") said.calls.push([block.name, block.input === undefined ? null : block.input]);
  }
  said.end = message?.stop_reason ?? null;
  return said;
}

async function openai({ url, model, offers, prompt }) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "local", maxRetries: 0, logLevel: "off", fetch: asked });
  const given = { model, messages: [{ role: "user", content: prompt }], stream_options: { include_usage: true } };
  if (offers) given.tools = TOOLS.map((name) => ({ type: "function", function: { name, parameters: SCHEMA } }));
  const said = { text: "", thoughts: "", calls: [], end: null, error: null };
  let choice = null;
  try {
    const stream = client.chat.completions.stream(given);
    stream.on("chunk", (_, snapshot) => (choice = snapshot.choices?.[0]));
    choice = (await stream.finalChatCompletion()).choices[0];
  } catch (error) {
    said.error = error.constructor.name;
  }
  said.text = choice?.message?.content ?? "";
  for (const call of choice?.message?.tool_calls ?? []) said.calls.push([call?.function?.name ?? null, call?.function?.arguments ?? null]);
  said.end = choice?.finish_reason ?? null;
  return said;
}

const SDKS = { "ai-sdk": aiSdk, "anthropic-node": anthropic, "openai-node": openai };
// What an SDK throws beside its promise is part of no reading.
process.on("unhandledRejection", () => {});
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  episode = null;
  const late = new Promise((settle) => setTimeout(settle, 30000, { text: "", thoughts: "", calls: [], end: null, error: "late" }).unref());
  const said = await Promise.race([SDKS[request.sdk](request), late]);
  console.log(JSON.stringify({ ...said, episode }));
}
