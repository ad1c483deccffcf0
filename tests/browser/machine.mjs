// What the tests run: the program, its results, and a browser that tells all that a page does.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

const TORR = process.env.TORR ?? new URL("../../target/debug/torr", import.meta.url).pathname;
// Without these, a browser calls its maker, which a machine without a network refuses again and again.
const QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

/** Runs torr to its end. Exit code 1 is that of a threshold, 4 that of a comparison which cannot tell. */
export async function torr(...args) {
  try {
    return await promisify(execFile)(TORR, args, { timeout: 120_000, maxBuffer: 1 << 26 });
  } catch (failure) {
    assert.ok([1, 4].includes(failure.code), `torr ${args.join(" ")}: ${failure.code}, ${failure.signal}, ${failure.stderr}`);
    return failure;
  }
}

/** Starts torr, and returns the process with the first match in a line of its standard error. */
export async function start(pattern, ...args) {
  const child = spawn(TORR, args, { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  for await (const line of createInterface({ input: child.stderr })) {
    const found = line.match(pattern);
    if (found) return { url: found[0], end: () => (child.kill(), ended), kill: () => (child.kill("SIGKILL"), ended), ended };
  }
  throw new Error(`torr ${args.join(" ")} has ended`);
}

/** A folder that is removed by its own call. */
export async function folder() {
  const path = await mkdtemp(join(tmpdir(), "torr-browser-"));
  return {
    file: (name) => join(path, name),
    url: (name) => pathToFileURL(join(path, name)).href,
    write: (name, text) => writeFile(join(path, name), text),
    json: async (name) => JSON.parse(await readFile(join(path, name), "utf8")),
    remove: () => rm(path, { recursive: true }),
  };
}

export const browse = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: QUIET });

/** Opens a page. `told` has all that it said, asked for, or failed at. */
export async function open(browser, url, { width = 1280, scheme = "light" } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  const page = await context.newPage();
  const told = [];
  page.on("console", (message) => told.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => told.push(`error: ${error}`));
  page.on("dialog", (dialog) => (told.push(`dialog: ${dialog.message()}`), dialog.accept()));
  page.on("request", (request) => request.url().startsWith(url) || told.push(`request: ${request.url()}`));
  await page.goto(url);
  return { page, told, close: () => context.close() };
}
