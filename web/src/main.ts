// The script of a page: shows what is in its data.

import "./language"; // before others ask for it
import { KanePage } from "./component";
import type { PageData } from "./data";

customElements.define("kane-page", KanePage);
const held = document.getElementById("kane-data");
const page = document.querySelector<KanePage>("kane-page");
if (held && page) {
  page.show(JSON.parse(held.textContent ?? "") as PageData).then(
    () => page.setAttribute("ready", ""),
    (error: unknown) => {
      page.setAttribute("failed", "");
      const note = document.createElement("p");
      note.textContent = `This page cannot be shown here: ${error instanceof Error ? error.message : String(error)}`;
      page.before(note);
    },
  );
}
