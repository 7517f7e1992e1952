/* The live view of a run.
 *
 * Draws what the kernel sends and reports what the user does. It can be rebuilt from a snapshot at
 * any time: it asks for one when it appears and whenever it has missed a message. HTML comes only
 * from the kernel, sanitised there (`html` of text and thinking); all else is set as plain text.
 */

const HELLO_AGAIN_MS = 1000;
const STOP_AGAIN_MS = 1000;
const TICK_MS = 100;

/** Make an element; strings among its children become text. */
function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Cut as the kernel says: [drop, keep, add], in UTF-16 units. */
function spliced(text, [drop, keep, add]) {
  return text.slice(drop, drop + keep) + add;
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", "agn-offscreen");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/* ---- blocks: each keeps its element and the face it shows; `update` draws the face anew ---- */

class TextBlock {
  constructor(face, view) {
    this.view = view;
    this.face = face;
    this.box = make("div", "agn-md");
    this.element = this.box;
    this.chunks = [];
  }

  /** Draw the chunks at these places, all of them if none are named. */
  update(places) {
    const { html, open } = this.face;
    while (this.chunks.length > html.length) this.chunks.pop().remove();
    for (const at of places ?? html.keys()) {
      if (at >= html.length) continue;
      while (this.chunks.length <= at) {
        const chunk = make("div", "agn-chunk");
        this.chunks.push(chunk);
        this.box.append(chunk);
      }
      this.chunks[at].innerHTML = html[at]; // sanitised in the kernel
      for (const pre of this.chunks[at].querySelectorAll("pre")) this.addCopy(pre);
    }
    this.box.classList.toggle("agn-open", open);
  }

  addCopy(pre) {
    const frame = make("div", "agn-pre");
    pre.replaceWith(frame);
    frame.append(pre);
    if (pre.classList.contains("agn-more")) return;
    const say = this.view.words;
    const button = make("button", "agn-copy", say["page.copy"]);
    button.type = "button";
    button.addEventListener("click", async () => {
      await copyText(this.codeFrom(pre));
      setText(button, say["page.copied"]);
      this.view.announce(say["page.copied"]);
      setTimeout(() => setText(button, say["page.copy"]), 1500);
    });
    frame.append(button);
  }

  /** A long block of code is drawn in pieces: copy all of them. */
  codeFrom(pre) {
    const all = [...this.box.querySelectorAll("pre")];
    const first = all.indexOf(pre);
    const next = all.findIndex((other, at) => at > first && !other.classList.contains("agn-more"));
    const pieces = all.slice(first, next < 0 ? undefined : next);
    return pieces.map((piece) => piece.textContent).join("");
  }
}

class ThinkingBlock extends TextBlock {
  constructor(face, view, key) {
    super(face, view);
    this.label = make("span", "agn-label");
    this.preview = make("span", "agn-preview");
    const summary = make("summary", "", this.label, this.preview);
    this.box.className = "agn-md agn-thought";
    this.element = make("details", "agn-think", summary, this.box);
    view.rememberToggle(this.element, summary, key);
  }

  update(places) {
    super.update(places);
    setText(this.label, this.face.label);
    const lines = this.face.open ? this.box.textContent.trimEnd().split("\n") : [""];
    setText(this.preview, lines.at(-1).slice(-120));
    this.element.classList.toggle("agn-now", this.face.open);
  }
}

class ToolBlock {
  constructor(face, view, key) {
    this.view = view;
    this.face = face;
    this.name = make("span", "agn-name");
    this.line = make("span", "agn-line");
    this.note = make("span", "agn-note");
    this.summary = make("summary", "", this.name, this.line, this.note);
    this.args = make("pre", "agn-args");
    this.refusal = make("div", "agn-refusal");
    this.out = make("pre", "agn-out");
    for (const pre of [this.args, this.out]) pre.tabIndex = 0;
    this.images = make("div", "agn-images");
    const body = make("div", "agn-body", this.args, this.refusal, this.out, this.images);
    this.element = make("details", "agn-tool", this.summary, body);
    this.key = key;
    view.rememberToggle(this.element, this.summary, key);
  }

  update() {
    const { face } = this;
    setText(this.name, face.name);
    setText(this.line, face.line);
    this.line.title = face.line;
    this.element.dataset.status = face.status;
    const has = { args: face.args, refusal: face.refusal, out: face.out.trim() };
    for (const [part, text] of Object.entries(has)) this[part].hidden = !text;
    this.images.hidden = !face.images.length;
    this.element.open = this.view.toggled.get(this.key) ?? face.spread;
    this.drawArguments(); // once open: what is not laid out cannot be scrolled
    setText(this.refusal, face.refusal);
    this.drawOutput();
    this.drawImages();
    this.tick();
  }

  /** Show how long it has been running, or how it came out. */
  tick() {
    const { note, since } = this.face;
    const running = since === null ? "" : ` · ${this.view.seconds(this.view.elapsed() - since)}`;
    setText(this.note, note + running);
  }

  drawArguments() {
    const { args, diff } = this.face;
    if (!diff) {
      setText(this.args, args);
    } else if (this.drawnDiff !== args) {
      this.drawnDiff = args;
      const kinds = { "+": "agn-added", "-": "agn-removed" };
      const lines = args.split("\n").map((line) => make("span", kinds[line[0]] ?? "", line || " "));
      this.args.replaceChildren(...lines);
    }
    if (this.face.status === "writing") this.args.scrollTop = this.args.scrollHeight;
  }

  drawOutput() {
    const { out } = this;
    if (out.textContent === this.face.out) return;
    const atEnd = out.scrollTop + out.clientHeight >= out.scrollHeight - 24;
    out.textContent = this.face.out;
    if (atEnd && this.face.since !== null) out.scrollTop = out.scrollHeight;
  }

  drawImages() {
    const shown = [...this.images.children].map((image) => image.src);
    if (shown.join() === this.face.images.join()) return;
    this.images.replaceChildren(
      ...this.face.images.map((address) => {
        const image = make("img", "");
        image.src = address;
        image.alt = "";
        return image;
      }),
    );
  }
}

class PlainBlock {
  constructor(face) {
    this.face = face;
    const isUser = face.type === "user";
    this.element = make("div", isUser ? "agn-q agn-user" : "agn-notice");
    this.label = make("span", "agn-kind");
    this.text = make("span", "");
    this.text.dir = "auto";
    this.element.append(this.label, this.text);
  }

  update() {
    const { face } = this;
    if (face.kind) this.element.dataset.kind = face.kind;
    setText(this.label, face.label);
    setText(this.text, face.text);
  }
}

const KINDS = { text: TextBlock, thinking: ThinkingBlock, tool: ToolBlock };

/* ---- the view ---- */

class View {
  constructor(model, container) {
    this.model = model;
    this.seq = 0;
    this.waiting = true; // for a snapshot
    this.words = {};
    this.turns = [];
    this.toggled = new Map(); // cards the user opened or closed, by place
    this.head = { phase: "starting", live: true, state: "…", model: "" };
    this.began = performance.now();
    this.stopId = null;
    this.build(container);
    this.receive = (message) => this.onMessage(message);
    model.on("msg:custom", this.receive);
    this.askAgain = () => this.hello();
    model.on("comm_live_update", this.askAgain); // of a kernel that is gone, or is back
    this.ticker = setInterval(() => this.tick(), TICK_MS);
    this.hello();
  }

  build(container) {
    this.dot = make("span", "agn-dot");
    this.dot.setAttribute("aria-hidden", "true");
    this.state = make("span", "agn-state", "…");
    this.modelName = make("span", "agn-model");
    this.time = make("span", "agn-time");
    this.time.setAttribute("aria-hidden", "true");
    this.stopWord = make("span", "");
    const key = make("kbd", "", "Esc");
    key.setAttribute("aria-hidden", "true");
    this.stopButton = make("button", "agn-stop", this.stopWord, key);
    this.stopButton.type = "button";
    this.stopButton.hidden = true;
    this.stopButton.addEventListener("click", () => this.stop());
    const grow = make("span", "agn-grow");
    const head = make("div", "agn-head");
    head.append(this.dot, this.state, this.modelName, grow, this.time, this.stopButton);
    this.question = make("div", "agn-q");
    this.question.dir = "auto";
    this.turnList = make("div", "agn-turns");
    this.rail = make("div", "agn-rail", this.question, this.turnList);
    this.rail.hidden = true;
    this.queue = make("ul", "agn-queue");
    this.say = make("div", "agn-say"); // the place of the message box
    this.foot = make("div", "agn-foot");
    this.live = make("div", "agn-offscreen");
    this.live.setAttribute("role", "status");
    this.live.setAttribute("aria-live", "polite");
    this.root = make("section", "agn");
    this.root.append(head, this.rail, this.queue, this.say, this.foot, this.live);
    this.root.tabIndex = -1;
    this.root.dataset.lmSuppressShortcuts = "true";
    this.keydown = (event) => this.onKey(event);
    // The front end's shortcuts listen on the document, before any element hears of a key.
    window.addEventListener("keydown", this.keydown, { capture: true });
    container.append(this.root);
  }

  dispose() {
    clearInterval(this.ticker);
    clearTimeout(this.helloTimer);
    clearTimeout(this.stopTimer);
    this.model.off("msg:custom", this.receive);
    this.model.off("comm_live_update", this.askAgain);
    window.removeEventListener("keydown", this.keydown, { capture: true });
    this.root.remove();
  }

  /* -- to the kernel -- */

  /** Send a message; where there is no kernel any more to take it, say so. Returns whether. */
  tell(message) {
    try {
      this.model.send(message);
      return true;
    } catch {
      this.lose();
      return false;
    }
  }

  /** Show that the kernel was restarted: nothing more will come. */
  lose() {
    clearTimeout(this.helloTimer);
    clearTimeout(this.stopTimer);
    if (!this.head.live) return;
    const state = this.words["page.lost"] ?? "The kernel was restarted";
    const head = { ...this.head, phase: "error", live: false, state, elapsed: this.elapsed() };
    this.drawParts({ head, say: state });
  }

  /** Ask for a snapshot, again and again until one comes. */
  hello() {
    this.waiting = true;
    if (!this.tell({ kind: "hello", seq: this.seq })) return;
    clearTimeout(this.helloTimer);
    this.helloTimer = setTimeout(() => this.hello(), HELLO_AGAIN_MS);
  }

  /** Ask to stop, again and again until the kernel shows that it heard. */
  stop() {
    if (!this.head.live || this.head.phase === "stopping") return;
    this.stopId ??= crypto.randomUUID?.() ?? String(Math.random());
    if (!this.tell({ kind: "stop", id: this.stopId })) return;
    clearTimeout(this.stopTimer);
    this.stopTimer = setTimeout(() => this.stop(), STOP_AGAIN_MS);
    this.drawHead();
  }

  /** Keep keys typed in the view from the notebook: `d d` there deletes a cell. */
  onKey(event) {
    if (!event.composedPath().includes(this.root)) return;
    event.stopPropagation();
    if (event.key !== "Escape" || event.isComposing || !this.head.live) return;
    event.preventDefault();
    this.stop();
  }

  /* -- from the kernel -- */

  onMessage(message) {
    if (message.kind === "snapshot") this.onSnapshot(message);
    else if (message.kind === "patch") this.onPatch(message);
  }

  onSnapshot(message) {
    clearTimeout(this.helloTimer);
    const known = message.seq <= this.seq;
    this.waiting = false;
    if (!known) this.draw(message);
    this.tell({ kind: "ack", seq: this.seq });
  }

  onPatch(message) {
    if (this.waiting || message.seq <= this.seq) return;
    if (message.from !== this.seq) {
      this.hello();
      return;
    }
    this.seq = message.seq;
    for (const change of message.turns ?? []) this.changeTurn(change);
    this.drawParts(message);
    if (message.head && !message.head.live) this.tell({ kind: "ack", seq: this.seq });
  }

  draw(snapshot) {
    this.seq = snapshot.seq;
    this.words = snapshot.words;
    this.root.lang = snapshot.lang;
    this.root.setAttribute("aria-label", this.words["view.label"]);
    this.question.setAttribute("aria-label", this.words.question);
    setText(this.question, snapshot.question);
    this.question.hidden = !snapshot.question;
    this.turns = [];
    this.turnList.replaceChildren();
    for (const [at, turn] of snapshot.turns.entries()) {
      const blocks = turn.blocks.map((face, place) => ({ at: place, new: face }));
      this.changeTurn({ at, label: turn.label, blocks });
    }
    this.rail.hidden = false;
    this.drawParts(snapshot);
  }

  drawParts({ head, foot, queue, say }) {
    if (head) {
      this.head = head;
      this.began = performance.now() - head.elapsed * 1000;
      this.drawHead();
    }
    if (foot) this.foot.replaceChildren(...foot.map((part) => make("span", "", part)));
    if (queue) {
      const chip = ([label, text]) => make("li", "", make("b", "", label), make("span", "", text));
      this.queue.replaceChildren(...queue.map(chip));
    }
    this.drawNow();
    if (say) this.announce(say);
  }

  drawHead() {
    const { phase, live, state, model } = this.head;
    const stopping = live && (phase === "stopping" || this.stopId !== null);
    if (!live || phase === "stopping") clearTimeout(this.stopTimer);
    this.root.dataset.phase = stopping ? "stopping" : phase;
    this.root.classList.toggle("agn-live", live);
    setText(this.state, stopping ? this.words["page.stopping"] : state);
    setText(this.modelName, model);
    this.modelName.title = model;
    this.stopButton.hidden = !live;
    this.stopButton.setAttribute("aria-disabled", String(stopping));
    setText(this.stopWord, this.words[stopping ? "page.stopping" : "page.stop"] ?? "");
    if (!live && this.stopButton.contains(document.activeElement)) this.root.focus();
    this.tick();
  }

  /** Mark the turn that is going on. */
  drawNow() {
    for (const [at, turn] of this.turns.entries()) {
      const now = this.head.live && at === this.turns.length - 1;
      turn.element.classList.toggle("agn-now", now);
      setText(turn.tag, now ? `${turn.label} · ${this.words["turn.now"]}` : turn.label);
    }
  }

  changeTurn({ at, label, blocks }) {
    this.turns[at] ??= this.addTurn(label);
    const turn = this.turns[at];
    for (const change of blocks) this.changeBlock(turn, change, `${at}.${change.at}`);
  }

  addTurn(label) {
    const tag = make("span", "agn-tag", label);
    const element = make("div", "agn-turn", tag);
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", label);
    this.turnList.append(element);
    return { label, tag, element, blocks: [] };
  }

  changeBlock(turn, change, key) {
    let block = turn.blocks[change.at];
    if (change.new) {
      const old = block;
      const Kind = KINDS[change.new.type] ?? PlainBlock;
      block = turn.blocks[change.at] = new Kind(change.new, this, key);
      if (old) old.element.replaceWith(block.element);
      else turn.element.append(block.element);
      block.update();
      return;
    }
    Object.assign(block.face, change.set);
    for (const [part, cut] of Object.entries(change.splice ?? {})) {
      block.face[part] = spliced(block.face[part], cut);
    }
    block.update(this.changeHtml(block.face.html, change.html ?? []));
  }

  /** Apply `[at, drop, keep, add]` to the chunks, `[at]` takes one away; return the places. */
  changeHtml(html, changes) {
    for (const [at, ...cut] of changes) {
      if (cut.length) html[at] = spliced(html[at] ?? "", cut);
    }
    const gone = changes.filter((change) => change.length === 1).length;
    if (gone) html.length -= gone;
    return changes.map(([at]) => at);
  }

  /* -- odds and ends -- */

  /** Keep what the user opened or closed, whatever comes. */
  rememberToggle(details, summary, key) {
    if (this.toggled.has(key)) details.open = this.toggled.get(key);
    summary.addEventListener("click", () => this.toggled.set(key, !details.open));
  }

  announce(sentence) {
    setText(this.live, sentence);
  }

  /** Seconds since the run began, as far as it went. */
  elapsed() {
    return this.head.live ? (performance.now() - this.began) / 1000 : this.head.elapsed;
  }

  seconds(time) {
    const fill = (key, values) =>
      (this.words[key] ?? "{n} s").replace(/\{(\w+)\}/g, (_, name) => values[name]);
    if (!this.head.live && time < 0.1) return fill("time.ms", { n: Math.round(time * 1000) });
    if (time < 9.95) return fill("time.s", { n: Math.max(0, time).toFixed(1) });
    const whole = Math.round(time);
    if (whole < 60) return fill("time.s", { n: whole });
    return fill("time.min", { m: Math.floor(whole / 60), s: whole % 60 });
  }

  tick() {
    if (!this.seq) return;
    setText(this.time, this.seconds(this.elapsed()));
    if (!this.head.live) return;
    for (const block of this.turns.at(-1)?.blocks ?? []) {
      if (block.face.type === "tool" && block.face.since !== null) block.tick();
    }
  }
}

export default {
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.dispose();
  },
};
