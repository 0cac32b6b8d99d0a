// A router. function notMe() {}
import { parse } from "./parse.js";
const fs = require("fs");

const METHODS = ["GET", "POST"]
let count = 0, total = 1;
export const VERSION = `v${count + `${total}}`}`;

/**
 * Joins two parts: function fake() { }
 */
export function join(a, b = "}") {
  function inner() { return a; }
  return a + /[/"{]\/}/.source + inner();
}

export default class Router extends Base {
  #routes = new Map();
  static limit = 10;

  constructor(options = {}) {
    super(options);
  }

  get size() { return this.#routes.size; }
  set size(value) { throw new Error("size: not implemented"); }

  static async *walk(routes) {
    for (const route of routes) {
      if (route) { yield route; }
    }
  }

  #find(path) {
    return this.#routes.get(path) / 2 / 1;
  }

  handle = async (request) => {
    await this.#find(request.path);
  };

  [Symbol.iterator]() {
    return this.#routes.values();
  }
}

// Not documented by this line.

const add = (a, b) => a + b
const later = async function (ms) {
  return new Promise((done) => setTimeout(done, ms));
};

function View({ items }) {
  return (
    <ul title="don't {">
      {/* the list */}
      {items.map((item) => <li key={item}>It's {item}</li>)}
    </ul>
  );
}

Router.prototype.close = function () {
  this.closed = true;
};

module.exports = { Router, View, add }

if (typeof window !== "undefined") {
  function hidden() {}
}
