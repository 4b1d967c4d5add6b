// Writes events as they come, and loads the page's content again when something happened. Everything works without it.
"use strict";

const PAUSE = 1000;
const MOST = 100;

const list = document.getElementById("events");
if (list) {
  const source = new EventSource("/events");
  let waits = false;

  source.onmessage = (event) => {
    document.getElementById("none")?.remove();
    const item = document.createElement("li");
    item.textContent = event.data;
    list.prepend(item);
    while (list.children.length > MOST) list.lastChild.remove();
    if (!waits) {
      waits = true;
      setTimeout(load, PAUSE);
    }
  };

  // What stands above the events is taken from the page as it is now.
  const load = async () => {
    waits = false;
    const answer = await fetch(location.href).catch(() => undefined);
    if (!answer?.ok || document.activeElement?.closest("[data-live] table, [data-live] svg")) return;
    const now = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of ["dl.facts", "figure", "[data-live] table"]) {
      const [old, fresh] = [document.querySelector(part), now.querySelector(part)];
      if (old && fresh) old.replaceWith(document.adoptNode(fresh));
    }
  };
}
