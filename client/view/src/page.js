// Writes events as they come, and loads the page's content again when something happened. Everything works without it.
"use strict";

const PAUSE = 1000;
const MOST = 100;

const list = document.getElementById("events");
if (list) {
  let source;
  let waits = false;

  const write = (event) => {
    document.getElementById("none")?.remove();
    const item = document.createElement("li");
    item.textContent = event.data;
    list.prepend(item);
    while (list.children.length > MOST) list.lastChild.remove();
    later();
  };

  const later = () => {
    if (waits) return;
    waits = true;
    setTimeout(load, PAUSE);
  };

  const load = async () => {
    waits = false;
    const answer = await fetch(location.href).catch(() => undefined);
    const old = document.getElementById("live");
    // What somebody has just reached with the keyboard stays.
    if (!answer?.ok || old.contains(document.activeElement)) return;
    const now = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
    if (now) old.replaceWith(document.adoptNode(now));
  };

  // A browser has few connections for all its pages, so one that nobody sees gives its own back.
  const follow = () => {
    source?.close();
    source = undefined;
    if (document.hidden) return;
    source = new EventSource("/events");
    source.onmessage = write;
  };

  document.addEventListener("visibilitychange", () => {
    follow();
    if (!document.hidden) later();
  });
  follow();
}
