// Numbers are written as in the language of the browser. Some name one that their own tables do not have: "C".

try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: "en" });
}
