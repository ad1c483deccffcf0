"use strict";
(() => {
  const [connection, controls, save, panel, soFar, report] =
    ["connection", "controls", "save", "panel", "so-far", "report"].map((id) => document.getElementById(id));

  // A folded part is known by its section and its number there, whatever else has changed.
  const folds = (root) => [...root.querySelectorAll("details")].map((details) => {
    const section = details.closest("section");
    const title = section?.querySelector("h2")?.textContent ?? "";
    const number = section ? [...section.querySelectorAll("details")].indexOf(details) : 0;
    return [`${title}/${number}`, details];
  });

  // Replaces the parts that have changed, so that what is folded out, selected or focused elsewhere stays.
  const replace = (root, html) => {
    const fresh = new DOMParser().parseFromString(html, "text/html").body;
    const states = new Map(folds(root).map(([key, details]) => [key, details.open]));
    folds(fresh).forEach(([key, details]) => { details.open = states.get(key) ?? details.open; });
    const level = (node) => (node.children.length === 1 ? node.firstElementChild : node);
    const [old, now] = [level(root), level(fresh)];
    if (old.children.length !== now.children.length || old.tagName !== now.tagName) {
      root.replaceChildren(...fresh.childNodes);
      return;
    }
    for (const name of now.getAttributeNames()) old.setAttribute(name, now.getAttribute(name));
    [...now.children].forEach((child, at) => {
      if (!child.isEqualNode(old.children[at])) old.children[at].replaceWith(child);
    });
  };

  const showPanel = (html) => {
    replace(panel, html);
    const paused = panel.querySelector("[data-paused]")?.dataset.paused === "true";
    const pause = controls.querySelector("[data-wish=pause]");
    if (pause) pause.textContent = paused ? "Continue" : "Pause";
  };

  const source = new EventSource("events");
  source.onopen = () => { connection.textContent = ""; };
  source.onerror = () => { connection.textContent = "Cannot reach the run: it may have been killed. Trying again."; };
  source.addEventListener("panel", (event) => showPanel(event.data));
  source.addEventListener("report", (event) => {
    soFar.hidden = false;
    replace(report, event.data);
  });
  source.addEventListener("end", (event) => {
    source.close();
    connection.textContent = "";
    controls.hidden = true;
    save.hidden = false;
    document.body.classList.add("ended");
    showPanel(event.data);
  });

  controls.addEventListener("click", async (event) => {
    const wish = event.target.dataset.wish;
    const question = event.target.dataset.confirm;
    if (!wish || (question && !confirm(question))) return;
    try {
      const response = await fetch(`steer/${wish}`, { method: "POST", headers: { "torr-steering": "1" } });
      connection.textContent = response.ok ? "" : await response.text();
    } catch {
      connection.textContent = "Cannot reach the run.";
    }
  });

  save.addEventListener("click", () => {
    const page = document.documentElement.cloneNode(true);
    page.querySelectorAll("script:last-of-type, noscript, #controls, #save, #connection").forEach((part) => part.remove());
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["<!DOCTYPE html>", page.outerHTML], { type: "text/html" }));
    link.download = "report.html";
    link.click();
    URL.revokeObjectURL(link.href);
  });
})();
