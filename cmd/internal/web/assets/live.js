// Keeps a page up to date, and adds keys. Without it the pages can be read all the same.
"use strict";
(() => {
  const $ = (q, at = document) => at.querySelector(q);
  const all = (q, at = document) => [...at.querySelectorAll(q)];
  const status = $("#link");
  const base = new URL(document.currentScript.src).pathname.replace(/\/assets\/live\.js$/, ""); // behind a proxy

  // Times: how long ago, with the moment itself beside it.
  const span = s => s < 60 ? `${Math.floor(s)} s` : s < 3600 ? `${Math.floor(s / 60)} min` : s < 172800 ? `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min` : `${Math.floor(s / 86400)} d`;
  const past = $(".past") !== null;
  const ages = (root = document) => {
    if (past) return;
    for (const t of all("time", root)) {
      const at = Date.parse(t.dateTime), seconds = (Date.now() - at) / 1000;
      if (Number.isNaN(at)) continue;
      t.title = t.dateTime.replace("T", " ").replace("Z", " UTC");
      const text = t.hasAttribute("data-until") ? (seconds < 0 ? `for ${span(-seconds)}` : `expired ${span(seconds)} ago`) : seconds >= 0 ? `${span(seconds)} ago` : `in ${span(-seconds)}`;
      if (t.textContent !== text) t.textContent = text;
    }
  };
  ages();
  setInterval(() => { if (!document.hidden) ages(); }, 10000);

  // A form sends what it asks for once, however often it is pressed. A page that is shown again, with the fields as they
  // were, asks for something new.
  const requests = (root = document) => { for (const i of all("input[name=request]", root)) i.value = "web-" + Array.from(crypto.getRandomValues(new Uint8Array(8)), b => b.toString(16).padStart(2, "0")).join(""); };
  requests();
  addEventListener("pageshow", e => { if (e.persisted) requests(); });

  // What somebody is typing in stays as it is.
  const isBusy = e => e.contains(document.activeElement) && /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) ||
    all("input:not([type=hidden]), textarea, select", e).some(f => f.type === "checkbox" ? f.checked !== f.defaultChecked : f.tagName === "SELECT" ? all("option", f).some(o => o.selected !== o.defaultSelected) && f.selectedIndex > 0 : f.value !== f.defaultValue);
  const kept = e => all("details", e).map(d => d.open);
  const put = (e, html) => {
    if (isBusy(e)) { e.dataset.waiting = html; return; }
    const open = kept(e);
    e.innerHTML = html;
    all("details", e).forEach((d, i) => { if (i < open.length && open[i]) d.open = true; });
    requests(e); ages(e);
  };
  // What somebody is typing in stays, and says that it is no longer asked for.
  const drop = e => {
    if (!isBusy(e)) { e.remove(); return; }
    if (e.classList.contains("gone")) return;
    const say = document.createElement("p");
    say.className = "meta"; say.setAttribute("role", "status"); say.textContent = "This no longer waits: what you typed is only here.";
    e.classList.add("gone"); e.prepend(say);
  };
  const revive = e => { if (e.classList.contains("gone")) { e.classList.remove("gone"); e.firstElementChild.remove(); } };
  // The changes of a part that has come anew while somebody types in the former one.
  const held = new Map();
  document.addEventListener("focusout", () => setTimeout(() => {
    for (const e of all(".gone")) drop(e);
    for (const [id, changes] of held) {
      const p = document.getElementById("p-" + id);
      if (!p || !isBusy(p)) { held.delete(id); changes.forEach(change); }
    }
    for (const e of all("[data-waiting]")) if (!isBusy(e)) { const html = e.dataset.waiting; delete e.dataset.waiting; put(e, html); }
  }));

  // Changes, part by part and row by row.
  const rowsOf = part => {
    let list = $("[data-rows]", part);
    if (!list) { list = document.createElement("ol"); list.className = "rows"; list.setAttribute("data-rows", ""); part.append(list); }
    return list;
  };
  const change = c => {
    let p = document.getElementById("p-" + c.id);
    if (c.gone) { held.delete(c.id); if (p) drop(p); return; }
    if (held.has(c.id)) { held.get(c.id).push(c); return; }
    if (c.whole) {
      if (p && isBusy(p)) { revive(p); held.set(c.id, [c]); return; }
      const t = document.createElement("template");
      t.innerHTML = c.whole.trim();
      const news = t.content.firstElementChild;
      if (p) { p.replaceWith(news); } else {
        const after = c.after && document.getElementById("p-" + c.after), column = $(`[data-column="${c.aside ? 1 : 0}"]`) || $("[data-column]");
        if (after) after.after(news); else column.prepend(news);
      }
      requests(news); ages(news);
      return;
    }
    if (!p) return;
    if (c.head !== undefined) put($("[data-head]", p), c.head);
    if (!c.rows && !c.order && !c.empty) return;
    const list = rowsOf(p), had = new Map(all(":scope > li", list).map(li => [li.dataset.key, li]));
    for (const [key, html] of Object.entries(c.rows || {})) {
      let li = had.get(key);
      if (!li) { li = document.createElement("li"); li.dataset.key = key; li.className = "new"; had.set(key, li); if (!c.order) list.append(li); }
      revive(li);
      put(li, html);
    }
    if (c.order || c.empty) {
      const wanted = new Set(c.order);
      for (const [key, li] of had) if (!wanted.has(key)) drop(li);
      let at = list.firstElementChild;
      for (const key of c.order || []) {
        while (at && at.classList.contains("gone")) at = at.nextElementSibling;
        const li = had.get(key);
        if (!li) continue;
        if (li === at) at = at.nextElementSibling; else list.insertBefore(li, at);
      }
    }
  };
  // A browser has six connections to a server for all its pages. Those that are looked at share four of them, and any
  // other asks every two seconds; a page that is hidden asks for nothing, and continues where it was when it is shown.
  const seats = 4;
  const seat = async () => {
    if (!navigator.locks) return () => {};
    for (let i = 0; i < seats; i++) {
      const free = await new Promise(done => { navigator.locks.request(`liza-stream-${i}`, { ifAvailable: true }, lock => lock ? new Promise(end => done(end)) : done(null)); });
      if (free) return free;
    }
    return null;
  };
  const whileSeen = (stream, poll) => {
    let turn = 0, stop = () => {};
    const begin = async () => {
      const mine = ++turn;
      while (mine === turn && !document.hidden) {
        const free = await seat();
        if (mine !== turn || document.hidden) { if (free) free(); return; }
        if (free) { const end = stream(); stop = () => { end(); free(); }; return; }
        await poll();
        await new Promise(done => setTimeout(done, 2000));
      }
    };
    const end = () => { turn++; stop(); stop = () => {}; };
    document.addEventListener("visibilitychange", () => { end(); if (!document.hidden) begin(); });
    addEventListener("pagehide", end);
    addEventListener("pageshow", e => { if (e.persisted) { end(); begin(); } });
    begin();
  };
  const address = (...more) => {
    const u = new URL(document.body.dataset.live, location);
    if (document.body.dataset.id) u.searchParams.set("since", document.body.dataset.id);
    for (const name of more) u.searchParams.set(name, "1");
    return u.pathname + u.search;
  };
  // What is above and below the parts: the tab's title, the mode, how much waits, and how fresh a shared board is.
  const surround = b => {
    const waiting = $("#waiting"), mode = $("#mode"), fetched = $("#fetched"), is = b.mode.toLowerCase();
    document.title = b.title;
    waiting.textContent = b.waiting; waiting.hidden = !b.waiting;
    mode.className = `mode mode-${is}`; mode.textContent = `${{ running: "▶", completed: "✔" }[is] || "❚❚"} ${is}`;
    fetched.innerHTML = b.fetched; ages(fetched);
  };
  const changed = (id, data) => {
    const news = JSON.parse(data);
    for (const c of news.parts || []) change(c);
    if (news.banner) surround(news.banner);
    document.body.dataset.id = id;
    const code = $("footer code");
    if (code) { code.textContent = id.slice(0, 10); code.title = id; }
    status.textContent = "";
  };
  const link = (is, say) => { document.body.dataset.link = is; status.textContent = say; };
  const troubled = data => { status.textContent = "The board can't be read: " + JSON.parse(data); };
  const follow = () => {
    let source, again;
    const open = () => {
      source = new EventSource(address());
      source.addEventListener("change", e => changed(e.lastEventId, e.data));
      source.addEventListener("trouble", e => troubled(e.data));
      source.onopen = () => link("open", "");
      source.onerror = () => {
        const ended = source.readyState === EventSource.CLOSED;
        link("lost", ended ? "Not followed any more: reload the page" : "The server is away; it is tried again");
        if (ended) again = setTimeout(open, 3000);
      };
    };
    open();
    return () => { clearTimeout(again); source.close(); };
  };
  const ask = async () => {
    try {
      const answer = await fetch(address("once"));
      if (!answer.ok) throw answer.status;
      link("open", "");
      for (const event of (await answer.text()).split("\n\n")) {
        const e = Object.fromEntries(event.split("\n").map(l => [l.slice(0, l.indexOf(":")), l.slice(l.indexOf(":") + 2)]));
        if (e.event === "change") changed(e.id, e.data);
        if (e.event === "trouble") troubled(e.data);
      }
    } catch { link("lost", "The server is away; it is tried again"); }
  };
  if (document.body.dataset.live) whileSeen(follow, ask);

  // A line's number opens the form of a comment under it; without this the server does.
  document.addEventListener("submit", e => {
    const form = e.target.closest("[data-say]"), pressed = e.submitter, kept = $("#say");
    if (!form || !pressed || !kept) return;
    e.preventDefault();
    const line = pressed.closest("tr"), next = line.nextElementSibling;
    if (next && next.classList.contains("saying")) { next.remove(); pressed.focus(); return; }
    const tr = document.createElement("tr"), td = document.createElement("td"), where = `${$("input[name=path]", form).value}:${pressed.value}`;
    tr.className = "said saying"; td.colSpan = 4; td.append(kept.content.cloneNode(true)); tr.append(td);
    $("input[name=where]", td).value = where;
    $("[data-where]", td).textContent = where;
    const back = $("input[name=back]", td);
    back.value = back.value.replace(/#.*/, "#" + form.id.slice(4));
    requests(td);
    line.after(tr);
    $("textarea", td).focus();
  });

  // An agent's transcript.
  const printed = $("[data-transcript]");
  if (printed && document.body.dataset.live) {
    whileSeen(() => {
      const source = new EventSource(printed.dataset.transcript);
      let fresh = false;
      source.addEventListener("begin", () => { fresh = true; });
      source.addEventListener("line", e => {
        if (fresh) { printed.textContent = ""; fresh = false; }
        const end = printed.scrollHeight - printed.scrollTop - printed.clientHeight < 40;
        printed.insertAdjacentHTML("beforeend", JSON.parse(e.data));
        while (printed.childElementCount > 2000) printed.firstElementChild.remove();
        if (end) printed.scrollTop = printed.scrollHeight;
      });
      return () => source.close();
    }, async () => {});
    printed.scrollTop = printed.scrollHeight;
  }

  // The slider shows the board as it was while it is moved.
  const slider = $("#seek");
  if (slider) {
    let turn = 0;
    const show = async () => {
      const mine = ++turn;
      $("output[for=seek]").textContent = `${slider.value} / ${slider.max}`;
      const to = $("input[name=to]", slider.form).value;
      const answer = await fetch(`${base}/seek?n=${slider.value}&to=${encodeURIComponent(to)}`);
      if (mine !== turn || !answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (mine !== turn) return;
      $(".columns").replaceWith($(".columns", page));
      const before = $(".past"), note = $(".past", page);
      if (before) before.remove();
      if (note) slider.form.before(note);
      for (const rel of ["prev", "next"]) { const a = $(`.seek a[rel=${rel}]`), b = $(`.seek a[rel=${rel}]`, page); if (a && b) a.href = b.getAttribute("href"); }
      history.replaceState(null, "", answer.url);
    };
    slider.addEventListener("input", show);
  }

  // The filter hides what does not match while it is typed, and shows the first hit. Enter asks the server, which knows more
  // than the page shows.
  const search = $("#search");
  if (search) search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean), matches = e => words.every(w => e.textContent.toLowerCase().includes(w));
    for (const li of all(".rows > li, .drafts > li")) li.hidden = !matches(li);
    if (words.length) for (const d of all("details.plan")) d.open = true;
    const hit = words.length && all(".rows > li").find(li => !li.hidden);
    if (hit) hit.scrollIntoView({ block: "nearest" });
  });

  // Keys.
  const pages = { n: "/", g: "/graph", t: "/timeline", h: "/history", a: "/agents", s: "/sprint" };
  let at = null;
  const move = by => {
    const rows = all(".rows > li").filter(li => li.offsetParent !== null);
    if (!rows.length) return;
    const i = at ? rows.indexOf(at) : -1;
    if (at) at.classList.remove("at");
    at = rows[Math.min(rows.length - 1, Math.max(0, i + by))];
    at.classList.add("at");
    at.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", e => {
    const field = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);
    if (e.key === "Escape" && field) { e.target.blur(); return; }
    if (field || e.ctrlKey || e.metaKey || e.altKey) return;
    const help = $("#help");
    if (e.key === "j") move(1);
    else if (e.key === "k") move(-1);
    else if (e.key === "Enter" && at && document.activeElement === document.body) { const a = $("a[href]", at); if (a) a.click(); }
    else if (e.key === "/") { e.preventDefault(); $("#search").focus(); }
    else if (e.key === "?") help.open ? help.close() : help.showModal();
    else if (e.key === "[" || e.key === "]") { const a = $(`.seek a[rel=${e.key === "[" ? "prev" : "next"}]`); if (a) a.click(); }
    else if (pages[e.key] && !help.open) { const a = all(".bar nav a").find(x => x.getAttribute("href").split("?")[0] === base + pages[e.key]); if (a) a.click(); }
  });
})();
