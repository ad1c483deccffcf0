"use strict";
// Plots over time answer: pointing shows the figures of an interval, dragging shows a part of the run, and keys do both. The figures
// are those of the table of the section; without this script the page has them all the same.
(() => {
  // The width of each plot's inner picture in its own units.
  const WIDTH = 1000;
  const plotsOf = (section) => [...section.querySelectorAll("svg.plot > svg")];
  const rowsOf = (section) => [...section.querySelectorAll("tr[data-t]")];
  const untilOf = (section) => Number(section.dataset.until);
  const sections = () => [...document.querySelectorAll("section[data-until]")];
  // The parts of the run that are shown, in seconds, by the number of the section: a section of a running load is replaced again
  // and again.
  const windows = new Map();
  const windowOf = (section) => {
    const part = windows.get(sections().indexOf(section));
    return part ? part.map((at) => Math.min(1, at / untilOf(section))) : [0, 1];
  };

  let shown = [];
  const hide = () => { shown.forEach((part) => part.remove()); shown = []; };

  const draw = (plot, name, attributes) => {
    const part = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => part.setAttribute(key, value));
    plot.append(part);
    return part;
  };
  const heightOf = (plot) => plot.viewBox.baseVal.height;

  const pairs = (row) => {
    const names = row.closest("table").querySelectorAll("thead th");
    return [...row.children].map((cell, at) => [names[at].textContent, cell.textContent]);
  };

  const readout = (row, x, y) => {
    const list = document.createElement("dl");
    list.className = "readout";
    for (const [name, figure] of pairs(row)) {
      const [term, value] = [document.createElement("dt"), document.createElement("dd")];
      [term.textContent, value.textContent] = [name, figure];
      list.append(term, value);
    }
    document.body.append(list);
    // To the left of the pointer where there is no room to its right.
    const left = x + 16 + list.offsetWidth > innerWidth ? x - 16 - list.offsetWidth : x + 16;
    list.style.left = `${Math.max(4, left) + scrollX}px`;
    list.style.top = `${y + scrollY + 16}px`;
    return list;
  };

  // Shows the interval in which a share of the run lies, beside a position in the window.
  const show = (section, share, x, y) => {
    hide();
    const row = rowsOf(section).find(({ dataset }) => Number(dataset.t) >= share * untilOf(section));
    if (!row) return;
    const at = share * WIDTH;
    shown = plotsOf(section).map((plot) => draw(plot, "line", { x1: at, x2: at, y1: 0, y2: heightOf(plot), class: "cursor" }));
    shown.push(readout(row, x, y));
  };

  // The plot over time that an event happened in, and the share of the run that it points at.
  const pointed = (event) => {
    const plot = event.target.closest?.("svg.plot")?.querySelector(":scope > svg");
    const section = plot?.closest("section[data-until]");
    if (!section) return null;
    const room = plot.getBoundingClientRect();
    const [from, to] = windowOf(section);
    const share = from + ((event.clientX - room.left) / room.width) * (to - from);
    return { section, share };
  };

  const seconds = (share, section) => {
    const at = share * untilOf(section);
    return at < 600 ? `${Math.round(at * 10) / 10} s` : `${Math.floor(at / 60)}:${String(Math.round(at % 60)).padStart(2, "0")}`;
  };

  // Shows a part of the run in all plots of a section.
  const zoom = (section, from, to) => {
    hide();
    const isWhole = from <= 0 && to >= 1;
    const number = sections().indexOf(section);
    if (isWhole) windows.delete(number); else windows.set(number, [from, to].map((share) => share * untilOf(section)));
    [from, to] = windowOf(section);
    for (const plot of plotsOf(section)) {
      plot.setAttribute("viewBox", `${from * WIDTH} 0 ${(to - from) * WIDTH} ${heightOf(plot)}`);
      plot.classList.toggle("zoomed", !isWhole);
      const around = plot.parentElement;
      around.querySelectorAll(":scope > text.edge").forEach((label) => label.remove());
      const labels = [...around.querySelectorAll(":scope > text[data-at]")];
      for (const label of labels) {
        label.setAttribute("x", `${((Number(label.dataset.at) - from) / (to - from)) * 100}%`);
        label.classList.toggle("outside", !isWhole);
      }
      if (isWhole || !labels.length) continue;
      for (const [share, side] of [[from, ""], [(from + to) / 2, "middle"], [to, "last"]]) {
        const x = `${((share - from) / (to - from)) * 100}%`;
        draw(around, "text", { x, y: labels[0].getAttribute("y"), class: `tick edge ${side}` }).textContent = seconds(share, section);
      }
    }
    section.querySelector("button.whole").hidden = isWhole;
    say(section, isWhole ? "The whole run" : `From ${seconds(from, section)} to ${seconds(to, section)}`);
  };
  const say = (section, words) => { section.querySelector("[role=status]").textContent = words; };

  // Dragging over a plot selects the part to show.
  let drag = null;
  const select = ({ section, share }) => {
    hide();
    const [from, to] = [Math.min(drag.share, share), Math.max(drag.share, share)];
    const area = (plot) => ({ x: from * WIDTH, width: (to - from) * WIDTH, y: 0, height: heightOf(plot), class: "selected" });
    shown = plotsOf(section).map((plot) => draw(plot, "rect", area(plot)));
  };
  const isFar = ({ section, share }) => {
    const [from, to] = windowOf(section);
    return Math.abs(share - drag.share) > (to - from) / 50;
  };

  document.addEventListener("pointerdown", (event) => {
    const at = pointed(event);
    drag = at && event.button === 0 ? at : null;
    if (at) show(at.section, at.share, event.clientX, event.clientY); else hide();
  });
  document.addEventListener("pointermove", (event) => {
    const at = pointed(event);
    if (drag && at?.section === drag.section && isFar(at)) select(at);
    else if (at && at.share >= 0) show(at.section, at.share, event.clientX, event.clientY);
    else hide();
  });
  document.addEventListener("pointerup", (event) => {
    const at = pointed(event);
    const begun = drag;
    if (begun && at?.section === begun.section && isFar(at)) {
      zoom(at.section, Math.max(0, Math.min(begun.share, at.share)), Math.min(1, Math.max(begun.share, at.share)));
    }
    drag = null;
  });
  document.addEventListener("pointercancel", () => { drag = null; hide(); });
  document.addEventListener("pointerleave", hide);
  document.addEventListener("dblclick", (event) => { const at = pointed(event); if (at) zoom(at.section, 0, 1); });
  addEventListener("scroll", hide, { passive: true });

  // What a section needs beside its plots. The page of a running load gets its sections later, and a page that was saved from a
  // browser has what this script had made.
  const prepared = new WeakSet();
  const prepare = (section) => {
    if (prepared.has(section)) return;
    prepared.add(section);
    section.querySelectorAll(".made").forEach((part) => part.remove());
    const group = section.querySelector(".plots");
    const whole = Object.assign(document.createElement("button"), { type: "button", className: "whole made", hidden: true });
    whole.textContent = "Show the whole run";
    whole.addEventListener("click", () => { zoom(section, 0, 1); group.focus(); });
    const status = Object.assign(document.createElement("p"), { className: "status made" });
    status.setAttribute("role", "status");
    const hint = Object.assign(document.createElement("p"), { className: "sub made" });
    hint.textContent = "Drag over a plot to see a part of the run. Keys: arrows, + and -, Escape.";
    group.before(hint, whole, status);

    let at = -1;
    const go = (to) => {
      const rows = rowsOf(section);
      at = Math.max(0, Math.min(rows.length - 1, to));
      const ends = [at ? Number(rows[at - 1].dataset.t) : 0, Number(rows[at].dataset.t)];
      const share = (ends[0] + ends[1]) / 2 / untilOf(section);
      const [from, wide] = [windowOf(section)[0], windowOf(section)[1] - windowOf(section)[0]];
      // The part that is shown follows.
      if (share < from || share > from + wide) {
        const begin = Math.max(0, Math.min(1 - wide, share - wide / 2));
        zoom(section, begin, begin + wide);
      }
      const room = plotsOf(section)[0].getBoundingClientRect();
      const [left, right] = windowOf(section);
      show(section, share, room.left + ((share - left) / (right - left)) * room.width, Math.max(0, room.top));
      say(section, pairs(rows[at]).map(([name, figure]) => `${name} ${figure}`).join(", "));
    };
    const scale = (factor) => {
      const [from, to] = windowOf(section);
      const rows = rowsOf(section);
      const middle = at < 0 ? (from + to) / 2 : Number(rows[at].dataset.t) / untilOf(section);
      const wide = Math.min(1, Math.max(2 / rows.length, (to - from) * factor));
      const begin = Math.max(0, Math.min(1 - wide, middle - wide / 2));
      zoom(section, begin, begin + wide);
    };
    const keys = {
      ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(Infinity),
      "+": () => scale(0.5), "=": () => scale(0.5), "-": () => scale(2), Escape: () => { at = -1; zoom(section, 0, 1); },
    };
    group.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.target !== group || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    group.addEventListener("blur", hide);
  };
  const prepareAll = () => sections().forEach((section) => {
    const isNew = !prepared.has(section);
    prepare(section);
    if (isNew && (section.querySelector(".zoomed") || windows.has(sections().indexOf(section)))) zoom(section, ...windowOf(section));
  });
  prepareAll();
  new MutationObserver(prepareAll).observe(document.body, { childList: true, subtree: true });
})();
