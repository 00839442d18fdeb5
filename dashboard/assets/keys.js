/* The list of keyboard shortcuts, which is loaded when somebody asks for it. */
"use strict";

/** Show the list; `keys`: the link of each page, by the letter that follows "g". */
observatory.showKeys = (keys) => {
  const { element } = observatory;
  const rows = [["/", "search all series"], ["?", "show this list"],
    ...[...keys].map(([key, link]) => [`g ${key}`, link.textContent.trim()])];
  const dialog = element("dialog", { class: "keys", "aria-labelledby": "keys-title" },
    element("h2", { id: "keys-title" }, "Keyboard shortcuts"),
    element("dl", {}, ...rows.map(([key, text]) => element("div", {},
      element("dt", {}, element("kbd", {}, key)), element("dd", {}, text)))),
    element("button", { type: "button", onclick: () => dialog.close() }, "Close"));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
};
