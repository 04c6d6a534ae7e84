// Elements of the page, made in one line each. Texts are always texts, never markup.

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  text = "",
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  return element;
}

export function button(text: string, title: string, action: () => void): HTMLButtonElement {
  const made = make("button", { type: "button", title, "aria-label": title }, text);
  made.addEventListener("click", action);
  return made;
}

/** A button that stays pressed. */
export function toggle(text: string, on: boolean, action: (on: boolean) => void): HTMLButtonElement {
  const made = make("button", { type: "button", "aria-pressed": String(on) }, text);
  made.addEventListener("click", () => {
    const next = made.getAttribute("aria-pressed") !== "true";
    made.setAttribute("aria-pressed", String(next));
    action(next);
  });
  return made;
}

/** A choice of one among some; `action` gets its number. */
export function choice(title: string, options: string[], chosen: number, action: (index: number) => void): HTMLSelectElement {
  const made = make("select", { "aria-label": title, title });
  for (const [i, text] of options.entries()) made.append(make("option", { value: String(i) }, text));
  made.value = String(chosen);
  made.addEventListener("change", () => action(Number(made.value)));
  return made;
}

export interface Check {
  text: string;
  key: string;
  on: boolean;
  action: (on: boolean) => void;
}

/** A menu of what can be shown and hidden; the boxes are returned too, by their keys. */
export function menu(text: string, checks: Check[]): { element: HTMLElement; boxes: Map<string, HTMLInputElement> } {
  const element = make("details", { class: "menu" });
  const list = make("div");
  const boxes = new Map<string, HTMLInputElement>();
  for (const check of checks) {
    const box = make("input", { type: "checkbox" });
    box.checked = check.on;
    box.addEventListener("change", () => check.action(box.checked));
    const label = make("label");
    label.append(box, make("span", {}, check.text), make("kbd", {}, check.key));
    list.append(label);
    boxes.set(check.key, box);
  }
  element.append(make("summary", {}, text), list);
  return { element, boxes };
}
