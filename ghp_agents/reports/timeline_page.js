// Draws the timeline on a canvas of the size of the window: only what is visible is drawn.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const [canvas, scroll, tall, tip, say] = ["chart", "scroll", "tall", "tip", "say"].map(byId);
  const pen = canvas.getContext("2d");
  const AXIS = 26, GAP = 12, MARK = 9, LEAST = 10; // pixels, and the shortest view in seconds
  const FONT = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
  const WORKS = 6, STEPS = [1, 5, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
    86400, 172800, 604800, 1209600, 2419200, 31536000];
  const whole = Math.max(LEAST, data.length);
  const view = { from: 0, to: whole };
  const tones = Object.fromEntries(data.signs.map(([kind, , , tone]) => [kind, tone]));
  const chars = Object.fromEntries(data.signs.map(([kind, char]) => [kind, char]));
  const meanings = Object.fromEntries(data.signs.map(([kind, , meaning]) => [kind, meaning]));
  const importance = Object.fromEntries(data.signs.map(([kind], at) => [kind, at]));
  const text = (at) => (at === null ? "" : data.texts[at]);
  let colours = {}, width = 0, height = 0, names = 0, lane = 24, asked = false, selected = null, drag = null;

  // Every thing of a lane: [start, end, kind, issue, status, text, by, layer]
  const lanes = data.lanes.map(([name, spans, opened, marks]) => {
    const all = [
      ...spans.map(([kind, start, end, issue, status, note]) => ({ kind, start, end, issue, status, note, layer: 0 })),
      ...opened.map(([kind, start, end, issue, status, note]) => ({ kind, start, end, issue, status, note, layer: 1 })),
      ...marks.map(([kind, at, issue, note, by]) => ({ kind, start: at, end: at, issue, note, by, layer: 2 })),
    ].sort((a, b) => a.start - b.start || a.layer - b.layer);
    return { name, all, spans: all.filter((x) => x.layer === 0), opened: all.filter((x) => x.layer === 1),
      marks: all.filter((x) => x.layer === 2) };
  });
  const due = (own, span) => span.kind === "wait" && own.opened.some(
    (x) => x.kind === "question" && x.start <= span.end && x.end >= span.start);
  for (const own of lanes) {
    for (const span of own.spans) span.colour = span.kind === "work" ? `work${(span.issue || 0) % WORKS}` :
      due(own, span) ? "due" : span.kind;
  }

  const label = (issue) => (issue < data.provisional ? `#${issue}` : "new issue");
  const date = (at) => new Date((data.since + at) * 1000);
  const format = (options) => new Intl.DateTimeFormat(undefined, options);
  const clock = format({ hour: "2-digit", minute: "2-digit" });
  const exact = format({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const day = format({ day: "numeric", month: "short" });
  const moment = format({ weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

  const lasts = (seconds) => {
    const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
    const parts = [];
    let rest = Math.round(seconds);
    for (const [size, unit] of units) {
      if (rest >= size && parts.length < 2) { parts.push(`${Math.floor(rest / size)} ${unit}`); rest %= size; }
    }
    return parts.join(" ") || "0 s";
  };

  const describe = (own, thing) => {
    const title = thing.issue !== null && data.titles[thing.issue];
    const issue = thing.issue === null ? "" : ` ${label(thing.issue)}${title ? ` «${title}»` : ""}`;
    const what = thing.layer === 2 ? meanings[thing.kind] :
      thing.kind === "question" ? "question open" : thing.kind === "queue" ? "waits for a lease" :
      text(thing.status) || meanings[thing.kind];
    const when = thing.layer === 2 ? moment.format(date(thing.start)) :
      `${moment.format(date(thing.start))} – ${clock.format(date(thing.end))} (${lasts(thing.end - thing.start)})`;
    const by = thing.by ? `by ${text(thing.by)}` : "";
    const note = text(thing.note ?? null);
    return [`${own.name}: ${what}${issue}`, when, by, note && `«${note}»`].filter(Boolean).join("\n");
  };

  const x = (at) => names + ((at - view.from) / (view.to - view.from)) * (width - names - GAP);
  const at = (px) => view.from + ((px - names) / (width - names - GAP)) * (view.to - view.from);

  const ask = () => { if (!asked) { asked = true; requestAnimationFrame(() => { asked = false; draw(); }); } };

  const readColours = () => {
    const style = getComputedStyle(document.documentElement);
    const all = ["back", "text", "dim", "line", "stripe", "ink", "wait", "due", "idle", "dead", "good", "bad", "ask",
      "move", "plain", ...Array.from({ length: WORKS }, (_, n) => `work${n}`)];
    colours = Object.fromEntries(all.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  };

  const size = () => {
    const scale = window.devicePixelRatio || 1;
    width = scroll.clientWidth;
    height = scroll.clientHeight;
    lane = Math.max(16, Math.min(26, Math.floor((height - AXIS) / Math.max(1, lanes.length))));
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    tall.style.height = `${Math.max(height, AXIS + lanes.length * lane)}px`;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.font = `12px ${FONT}`;
    const widest = Math.max(0, ...lanes.map((own) => pen.measureText(own.name).width));
    names = Math.min(widest + 28, Math.max(90, width * 0.3));
    ask();
  };

  // The first of sorted things that ends after a time.
  const first = (things, time) => {
    let low = 0, high = things.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (things[middle].end < time) low = middle + 1; else high = middle;
    }
    return low;
  };

  const drawAxis = () => {
    const most = Math.max(1, Math.floor((width - names) / 90));
    const step = STEPS.find((each) => each * most >= view.to - view.from) || STEPS[STEPS.length - 1];
    const start = date(view.from);
    start.setHours(0, 0, 0, 0);
    const base = start.getTime() / 1000 - data.since;
    pen.fillStyle = colours.back;
    pen.fillRect(0, 0, width, AXIS);
    pen.font = `11px ${FONT}`;
    pen.textAlign = "left";
    for (let time = base + Math.ceil((view.from - base) / step) * step; time <= view.to; time += step) {
      const px = Math.round(x(time)) + 0.5, when = date(time);
      pen.strokeStyle = colours.line;
      pen.beginPath(); pen.moveTo(px, AXIS - 6); pen.lineTo(px, height); pen.stroke();
      if (px > width - 64) continue;
      pen.fillStyle = colours.dim;
      const isDay = step >= 86400 || (when.getHours() === 0 && when.getMinutes() === 0 && step >= 60);
      pen.fillText((isDay ? day : step < 60 ? exact : clock).format(when), px + 3, AXIS - 9);
    }
  };

  const drawSpan = (span, top, bar) => {
    // Whole pixels: no seam between two spans of one issue.
    const left = Math.max(names, Math.round(x(span.start)));
    const right = Math.min(width - GAP, Math.round(x(span.end)));
    const tallness = span.kind === "idle" ? 2 : bar;
    pen.fillStyle = colours[span.colour];
    pen.fillRect(left, top + (bar - tallness) / 2, Math.max(right - left, 1), tallness);
    return [left, right];
  };

  const drawLane = (own, top) => {
    const bar = Math.max(8, lane - 12), barTop = top + lane - bar - 2;
    pen.fillStyle = colours.text;
    pen.font = `12px ${FONT}`;
    pen.textAlign = "left";
    pen.fillText(own.name, 12, barTop + bar / 2 + 4, names - 20);
    let label_ = null;
    const labels = [];
    for (let n = first(own.spans, view.from); n < own.spans.length && own.spans[n].start <= view.to; n++) {
      const span = own.spans[n], [left, right] = drawSpan(span, barTop, bar);
      if (span.issue === null || span.kind === "idle") { label_ = null; continue; }
      if (label_ && label_.issue === span.issue && left - label_.right < 2) label_.right = right;
      else { label_ = { issue: span.issue, left, right }; labels.push(label_); }
    }
    for (const span of own.opened) {
      if (span.end < view.from || span.start > view.to) continue;
      const left = Math.max(names, x(span.start)), right = Math.min(width - GAP, x(span.end));
      pen.fillStyle = span.kind === "question" ? colours.ask : colours.dim;
      pen.fillRect(left, barTop + bar, Math.max(1, right - left), 2);
    }
    if (bar >= 10) {
      pen.fillStyle = colours.ink;
      pen.font = `10px ${FONT}`;
      for (const each of labels) {
        const short = label(each.issue), title = data.titles[each.issue], room = each.right - each.left - 6;
        if (room < short.length * 6.5) continue;
        const long = title ? `${short} ${title}` : short;
        pen.fillText(room > long.length * 6 ? long : short, each.left + 3, barTop + bar / 2 + 3.5);
      }
    }
    const places = new Map();
    for (let n = first(own.marks, at(names - MARK)); n < own.marks.length && own.marks[n].start <= view.to; n++) {
      const mark = own.marks[n], slot = Math.round(x(mark.start) / MARK), other = places.get(slot);
      if (!other || importance[mark.kind] < importance[other.kind]) places.set(slot, mark);
    }
    pen.textAlign = "center";
    pen.font = `700 11px ${FONT}`;
    pen.lineWidth = 3;
    pen.strokeStyle = colours.back;
    for (const mark of places.values()) {
      const px = x(mark.start);
      if (px < names - 4) continue;
      pen.strokeText(chars[mark.kind], px, top + 10);
      pen.fillStyle = colours[tones[mark.kind]] || colours.dim;
      pen.fillText(chars[mark.kind], px, top + 10);
    }
    pen.lineWidth = 1;
  };

  const draw = () => {
    const offset = scroll.scrollTop;
    pen.fillStyle = colours.back;
    pen.fillRect(0, 0, width, height);
    const top = Math.floor(offset / lane), end = Math.min(lanes.length, Math.ceil((offset + height) / lane));
    pen.fillStyle = colours.stripe;
    for (let n = top + (top % 2); n < end; n += 2) pen.fillRect(0, AXIS + n * lane - offset, width, lane);
    drawAxis();
    pen.save();
    pen.beginPath(); pen.rect(0, AXIS, width, height - AXIS); pen.clip();
    for (let n = top; n < end; n++) drawLane(lanes[n], AXIS + n * lane - offset);
    if (selected) {
      const thing = selected.thing, y = AXIS + selected.lane * lane - offset;
      const left = Math.max(names - 4, x(thing.start) - 4), right = Math.min(width, x(thing.end) + 4);
      pen.strokeStyle = colours.text;
      pen.lineWidth = 2;
      pen.strokeRect(left, y + 1, Math.max(8, right - left), lane - 2);
      pen.lineWidth = 1;
    }
    pen.restore();
  };

  const show = (own, thing, px, py) => {
    tip.hidden = false;
    tip.textContent = describe(own, thing);
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(px + 14, window.innerWidth - box.width - 8))}px`;
    tip.style.top = `${py + 18 + box.height > window.innerHeight ? Math.max(4, py - box.height - 10) : py + 18}px`;
  };

  const hit = (px, py) => {
    const number = Math.floor((py - AXIS + scroll.scrollTop) / lane), own = lanes[number];
    if (py < AXIS || !own || px < names - 6) return null;
    const time = at(px), near = (MARK / (width - names)) * (view.to - view.from);
    const y = (py - AXIS + scroll.scrollTop) % lane;
    const marks = own.marks.filter((mark) => Math.abs(mark.start - time) <= near)
      .sort((a, b) => importance[a.kind] - importance[b.kind]);
    const opened = own.opened.filter((span) => span.start <= time && time <= span.end);
    const span = own.spans[first(own.spans, time)];
    const inside = span && span.start <= time ? span : null;
    const order = y < 12 ? [marks[0], inside, opened[0]] : y > lane - 4 ? [opened[0], inside] : [inside, marks[0]];
    const thing = order.find(Boolean);
    return thing ? { lane: number, thing } : null;
  };

  const look = (from, to) => {
    const span = Math.max(LEAST, Math.min(whole, to - from));
    view.from = Math.max(0, Math.min(whole - span, from));
    view.to = view.from + span;
    ask();
  };
  const zoom = (factor, around) => {
    const span = Math.max(LEAST, Math.min(whole, (view.to - view.from) * factor));
    const share = (around - view.from) / (view.to - view.from);
    look(around - share * span, around + (1 - share) * span);
  };
  const pan = (share) => look(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));
  const middle = () => (selected ? Math.max(view.from, Math.min(view.to, selected.thing.start)) :
    (view.from + view.to) / 2);

  const select = (number, thing) => {
    selected = { lane: number, thing };
    const room = (view.to - view.from) / 10, y = number * lane;
    if (thing.start < view.from || thing.start > view.to) {
      const span = view.to - view.from;
      look(thing.start < view.from ? thing.start - room : thing.start + room - span,
        thing.start < view.from ? thing.start - room + span : thing.start + room);
    }
    if (y < scroll.scrollTop) scroll.scrollTop = y;
    if (y + lane + AXIS > scroll.scrollTop + height) scroll.scrollTop = y + lane + AXIS - height;
    const box = canvas.getBoundingClientRect();
    show(lanes[number], thing, box.left + Math.max(names, x(thing.start)),
      box.top + AXIS + y - scroll.scrollTop + lane / 2);
    say.textContent = describe(lanes[number], thing);
    ask();
  };

  const step = (sideways, down) => {
    const number = selected ? Math.max(0, Math.min(lanes.length - 1, selected.lane + down)) : 0;
    const all = lanes[number] ? lanes[number].all : [];
    if (!all.length) return;
    if (!selected) return select(number, all.find((each) => each.end >= view.from) || all[0]);
    if (!down) {
      const next = all.indexOf(selected.thing) + sideways;
      return select(number, all[Math.max(0, Math.min(all.length - 1, next))]);
    }
    const time = selected.thing.start;
    select(number, all.reduce((a, b) => (Math.abs(b.start - time) < Math.abs(a.start - time) ? b : a)));
  };

  const unselect = () => { selected = null; tip.hidden = true; say.textContent = ""; ask(); };
  const KEYS = {
    ArrowLeft: (shift) => (shift ? pan(-0.2) : step(-1, 0)), ArrowRight: (shift) => (shift ? pan(0.2) : step(1, 0)),
    ArrowUp: () => step(0, -1), ArrowDown: () => step(0, 1),
    "+": () => zoom(0.6, middle()), "=": () => zoom(0.6, middle()), "-": () => zoom(1 / 0.6, middle()),
    0: () => look(0, whole), Home: () => look(0, whole), Escape: unselect,
  };
  canvas.addEventListener("keydown", (event) => {
    const act = KEYS[event.key];
    if (act && !event.ctrlKey && !event.metaKey && !event.altKey) { act(event.shiftKey); event.preventDefault(); }
  });
  canvas.addEventListener("wheel", (event) => {
    const box = canvas.getBoundingClientRect(), px = event.clientX - box.left;
    if (px < names) return; // over the names the wheel scrolls
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? height : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      pan(((event.deltaX || event.deltaY) * unit) / (width - names));
    } else {
      zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * unit * 0.002))), at(px));
    }
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    drag = { px: event.clientX, from: view.from, to: view.to, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    if (drag) {
      const moved = ((drag.px - event.clientX) / (width - names - GAP)) * (drag.to - drag.from);
      drag.moved = drag.moved || Math.abs(drag.px - event.clientX) > 3;
      if (drag.moved) { tip.hidden = true; look(drag.from + moved, drag.to + moved); }
      return;
    }
    const found = hit(event.clientX - box.left, event.clientY - box.top);
    if (found) show(lanes[found.lane], found.thing, event.clientX, event.clientY); else tip.hidden = true;
  });
  canvas.addEventListener("pointerup", (event) => {
    const box = canvas.getBoundingClientRect();
    const found = drag && !drag.moved && hit(event.clientX - box.left, event.clientY - box.top);
    drag = null;
    if (found) select(found.lane, found.thing);
  });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  canvas.addEventListener("pointerleave", () => { if (!selected) tip.hidden = true; });
  canvas.addEventListener("blur", unselect);
  byId("in").addEventListener("click", () => zoom(0.6, middle()));
  byId("out").addEventListener("click", () => zoom(1 / 0.6, middle()));
  byId("all").addEventListener("click", () => look(0, whole));
  scroll.addEventListener("scroll", ask, { passive: true });
  window.addEventListener("resize", size);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); ask(); });
  for (const id of ["scroll", "help", "buttons"]) byId(id).hidden = false;
  byId("print").classList.add("paper");
  readColours();
  size();
  draw();
})();
