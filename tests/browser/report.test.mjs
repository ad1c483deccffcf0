// Reports of real results in a real browser.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { plots, micros, unreached, violations } from "./looks.mjs";
import { browse, folder, open, start, torr } from "./machine.mjs";

const HOSTILE = `"'><script>window.hacked=1</script><img src=x onerror="window.hacked=1"><svg onload="window.hacked=1">`;
const PAGES = ["run", "sessions", "both", "compare", "doctor", "limit", "lab", "demo"];
let browser, made;

before(async () => {
  made = await folder();
  browser = await browse();
  const server = await start(/http:\/\/\S+/, "serve", "--listen", "127.0.0.1:0", "--workers", "1");
  const url = server.url.replace(/\/$/, "");
  try {
    const { file } = made;
    const run = (name, ...args) => torr(...args, "-q", "--json", file(`${name}.json`), "--report", file(`${name}.html`));
    // Some of its requests fail, and it has two thresholds.
    await made.write("urls", `${url}/\n${url}/\n${url}/json\n${url}/missing\n`);
    await run("run", "--urls", file("urls"), "-c", "8", "-d", "5s", "--fail-if", "p99>50ms", "--fail-if", "errors>1%");
    await run("other", `${url}/json`, "-c", "4", "-d", "3s");
    await made.write("walk.hurl", `GET ${url}/\nHTTP 200\n\nGET ${url}/json\nHTTP 200\n[Asserts]\njsonpath "$.message" == "no"\n`);
    await run("sessions", file("walk.hurl"), "-c", "4", "-d", "3s");
    await torr("report", file("run.json"), file("other.json"), "-o", file("both.html"));
    await run("compare", "compare", `${url}/`, `${url}/json`, "--budget", "20s");
    await run("doctor", "doctor", `${url}/`, "--budget", "6s");
    await run("limit", "limit", `${url}/`, "--budget", "6s");
  } finally {
    await server.end();
  }
  await torr("lab", "run", "drogon", "--row", "100 connections", "--scale", "0.1", "--rounds", "2", "--subject", "torr-serve", "-q",
    "--subject", "torr-router", "--archive", made.file("lab.jsonl"), "--report", made.file("lab.html"));
  await torr("demo", "--quick", "--json", made.file("demo.json"), "--report", made.file("demo.html"));
});

after(async () => {
  await browser?.close();
  await made?.remove();
});

for (const name of PAGES) {
  for (const scheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      test(`${name} at ${width} px, ${scheme}`, async () => {
        const { page, told, close } = await open(browser, made.url(`${name}.html`), { width, scheme });
        assert.deepEqual(await page.evaluate(plots), []);
        assert.deepEqual(await violations(page), []);
        assert.deepEqual(await unreached(page), []);
        assert.deepEqual(told, []);
        await close();
      });
    }
  }
}

test("figures are those of the JSON", async () => {
  const result = await made.json("run.json");
  const { page, close } = await open(browser, made.url("run.html"));
  const figures = Object.fromEntries(await page.$$eval("dl.figures > div", (all) =>
    all.map((one) => [one.querySelector("dt").textContent, one.querySelector("dd").textContent])));
  assert.equal(Number(figures.responses.replaceAll(",", "")), result.requests);
  assert.match(figures.errors, new RegExp(`^${result.errors.status.toLocaleString("en")} \\(`));
  assert.ok(Math.abs(micros(figures["99th percentile"]) / result.latency_us.p99 - 1) < 0.01, figures["99th percentile"]);
  const rows = (label) => page.$$eval(`[aria-label="${label}"] tbody tr`, (all) =>
    all.map((row) => [...row.children].map((cell) => cell.textContent)));
  const [over, percentiles] = [await rows("Figures over time"), new Map(await rows("Percentiles"))];
  assert.deepEqual(over.map((row) => Number(row[3].replaceAll(",", ""))), result.series.map((point) => point.errors));
  const last = new Date(Date.parse(result.started_at) + result.series.at(-1).t * 1000);
  assert.equal(over.at(-1)[1], last.toISOString().slice(11, 19));
  const kinds = new Map((await page.$$eval(".legend > span", (all) => all.map((one) => one.textContent)))
    .map((text) => text.match(/^■ (\w+) ([\d,]+)$/)).filter((found) => found)
    .map(([, kind, errors]) => [kind, Number(errors.replaceAll(",", ""))]));
  const sum = (kind) => result.series.reduce((all, point) => all + (point.errors_by_kind?.[kind] ?? 0), 0);
  assert.deepEqual([...kinds], [["status", sum("status")]]);
  assert.ok((await page.textContent("section >> nth=-1")).includes(result.host_name));
  for (const name of ["p50", "p90", "p99"]) {
    assert.ok(Math.abs(micros(percentiles.get(name)) / result.latency_us[name] - 1) < 0.01, name);
  }
  await close();
});

test("a fold opens by a key, and paper has what is folded of a diagnosis", async () => {
  const { page, close } = await open(browser, made.url("doctor.html"));
  const inside = page.locator(".trail details .inside").first();
  assert.equal(await inside.isVisible(), false);
  await page.emulateMedia({ media: "print" });
  assert.equal(await inside.isVisible(), true);
  assert.ok((await page.pdf()).length > 10_000);
  await page.emulateMedia({ media: "screen" });
  await page.locator(".trail summary").first().focus();
  await page.keyboard.press("Enter");
  assert.equal(await inside.isVisible(), true);
  await close();
});

test("the links below the head lead to the sections", async () => {
  const { page, told, close } = await open(browser, made.url("run.html"));
  const names = await page.locator(".contents a").allTextContents();
  assert.deepEqual(names, ["Over time", "Distribution", "Phases", "Errors", "How to repeat it"]);
  for (const name of names) {
    await page.locator(".contents a", { hasText: name }).click();
    assert.equal(await page.locator(":target h2").first().textContent(), name);
    assert.ok(await page.locator(":target h2").first().evaluate((title) => title.getBoundingClientRect().top < innerHeight));
  }
  assert.deepEqual(told, []);
  await close();
});

test("paper has all columns of each table", async () => {
  for (const name of PAGES) {
    // The width of A4 between the margins.
    const { page, close } = await open(browser, made.url(`${name}.html`), { width: 672 });
    await page.emulateMedia({ media: "print" });
    const cut = await page.$$eval("table", (tables) => tables.filter((table) => table.checkVisibility())
      .filter((table) => table.getBoundingClientRect().right > document.querySelector("main").getBoundingClientRect().right + 1)
      .map((table) => table.textContent.slice(0, 80)));
    assert.deepEqual(cut, [], name);
    await close();
  }
});

test("a table that goes on to the right casts a shadow there, until its end is reached", async () => {
  const { page, close } = await open(browser, made.url("run.html"), { width: 390 });
  const table = page.locator("[aria-label=Phases]");
  await table.scrollIntoViewIfNeeded();
  assert.ok(await table.evaluate((wide) => wide.scrollWidth > wide.clientWidth + 50));
  const edge = async () => {
    const { x, y, width } = await table.boundingBox();
    return page.screenshot({ clip: { x: x + width - 4, y: y + 2, width: 4, height: 4 } });
  };
  const before = await edge();
  await table.evaluate((wide) => wide.scrollTo(wide.scrollWidth, 0));
  assert.notDeepEqual(before, await edge());
  await close();
});

test("pointing at a plot shows the figures of that moment in all plots over time", async () => {
  const { page, told, close } = await open(browser, made.url("run.html"));
  const plot = page.locator("section[data-until] svg.plot > svg").first();
  await plot.scrollIntoViewIfNeeded();
  // The event of scrolling, which hides what is shown, comes with the next frame: the pointer moves after it.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const room = await plot.boundingBox();
  await page.mouse.move(room.x + room.width * 0.5, room.y + room.height / 2);
  assert.equal(await page.locator(".cursor").count(), await page.locator("section[data-until] svg.plot").count());
  const shown = await page.$$eval(".readout dd", (all) => all.map((one) => one.textContent));
  const row = await page.$$eval("tr[data-t]", (rows) => {
    const until = Number(document.querySelector("section[data-until]").dataset.until);
    return [...rows.find((row) => Number(row.dataset.t) >= until / 2).children].map((cell) => cell.textContent);
  });
  assert.deepEqual(shown, row);
  await page.mouse.move(5, 5);
  assert.equal(await page.locator(".cursor, .readout").count(), 0);
  assert.deepEqual(told, []);
  await close();
});

/** The plots over time of a page: their first picture on the screen, and the parts of the run that they show. */
async function overTime(page) {
  const plots = page.locator("section[data-until] svg.plot > svg");
  await plots.first().scrollIntoViewIfNeeded();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const parts = () => plots.evaluateAll((all) => all.map(({ viewBox: { baseVal: { x, width } } }) => [x, width].map(Math.round)));
  return { room: await plots.first().boundingBox(), parts };
}

test("dragging shows a part of the run in all plots, and a button the whole", async () => {
  for (const width of [1280, 390]) {
    const { page, told, close } = await open(browser, made.url("run.html"), { width });
    const { room, parts } = await overTime(page);
    const y = room.y + room.height / 2;
    await page.mouse.move(room.x + room.width * 0.75, y);
    await page.mouse.down();
    await page.mouse.move(room.x + room.width * 0.5, y);
    assert.equal(await page.locator(".selected").count(), (await parts()).length);
    await page.mouse.move(room.x + room.width * 0.25, y);
    await page.mouse.up();
    for (const [from, wide] of await parts()) {
      assert.ok(Math.abs(from - 250) < 10 && Math.abs(wide - 500) < 10, `${from}, ${wide}`);
    }
    assert.deepEqual(await page.evaluate(plots), []);
    assert.deepEqual(await violations(page), []);
    const until = Number(await page.getAttribute("section[data-until]", "data-until"));
    const edges = await page.locator("section[data-until] svg.plot").first().locator(".edge").allTextContents();
    [0.25, 0.5, 0.75].forEach((share, at) => assert.ok(Math.abs(parseFloat(edges[at]) - share * until) < 0.2, edges.join()));
    await page.getByRole("button", { name: "Show the whole run" }).click();
    assert.ok((await parts()).every(([from, wide]) => from === 0 && wide === 1000));
    assert.equal(await page.locator("button.whole").isVisible(), false);
    assert.deepEqual(told, []);
    await close();
  }
});

test("keys go from interval to interval, and show a part of the run", async () => {
  const { page, told, close } = await open(browser, made.url("run.html"));
  const { parts } = await overTime(page);
  const rows = await page.$$eval("tr[data-t]", (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  const figures = () => page.$$eval(".readout dd", (all) => all.map((one) => one.textContent));
  await page.locator(".plots").focus();
  // The page scrolls to what has the focus, and a scroll ends what is shown: both are done with the frame after the next.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.deepEqual(await figures(), rows[1]);
  assert.ok((await page.textContent("[role=status]")).startsWith(`until ${rows[1][0]}, `));
  await page.keyboard.press("+");
  const [from, wide] = (await parts())[0];
  const t = Number(await page.locator("tr[data-t]").nth(1).getAttribute("data-t"));
  const until = Number(await page.getAttribute("section[data-until]", "data-until"));
  assert.ok(wide === 500 && Math.abs(from - Math.max(0, (1000 * t) / until - 250)) < 2, `${from}, ${wide}`);
  // The part follows the interval.
  await page.keyboard.press("End");
  assert.deepEqual(await figures(), rows.at(-1));
  assert.ok((await parts()).every((part) => part[0] === 500 && part[1] === 500));
  await page.keyboard.press("Escape");
  assert.ok((await parts()).every((part) => part[0] === 0 && part[1] === 1000));
  assert.equal(await page.locator(".cursor, .readout").count(), 0);
  assert.deepEqual(told, []);
  await close();
});

test("texts of others do nothing", async () => {
  const result = await made.json("sessions.json");
  const hostile = JSON.parse(JSON.stringify(result), (_, value) => (typeof value === "string" ? value + HOSTILE : value));
  hostile.schema = result.schema;
  hostile.series = result.series;
  await made.write("hostile.json", JSON.stringify(hostile));
  await torr("report", made.file("hostile.json"), "-o", made.file("hostile.html"));
  const { page, told, close } = await open(browser, made.url("hostile.html"));
  assert.ok((await page.textContent("h1")).includes("<script>"), "the text is shown as it is");
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(told, []);
  await close();
});
