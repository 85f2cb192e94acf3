// Runs in the browser: search, this installation's address in the examples, and, if the
// operator allows it, forms that send the examples.

const sections = [...document.querySelectorAll("section.endpoint")];
const links = [...document.querySelectorAll("nav li[data-for]")];

for (const code of document.querySelectorAll("pre.request code")) {
  code.textContent = code.textContent.replace("http://127.0.0.1:8080", location.origin);
}

document.getElementById("search").addEventListener("input", ({ target }) => {
  const words = target.value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const section of sections) {
    const text = section.textContent.toLowerCase();
    section.hidden = !words.every((word) => text.includes(word));
    if (!section.hidden) found += 1;
  }
  for (const link of links) link.hidden = document.getElementById(link.dataset.for).hidden;
  for (const part of document.querySelectorAll("h2.part")) part.hidden = words.length > 0;
  document.getElementById("none").hidden = found > 0;
});

if (document.body.hasAttribute("data-try")) {
  for (const example of document.querySelectorAll("details.example")) addForm(example);
}

function addForm(example) {
  const { method } = example.closest("section").dataset;
  const form = document.createElement("form");
  const key = input("API key: it is sent to this installation and kept nowhere", "password");
  const path = input("Path", "text", example.dataset.target);
  const body = document.createElement("textarea");
  body.setAttribute("aria-label", "Body");
  const sent = example.dataset.body;
  if (sent !== undefined) body.value = JSON.stringify(JSON.parse(sent), null, 2);
  const button = document.createElement("button");
  button.textContent = "Send: it is a real call, and is charged";
  const answer = document.createElement("pre");
  form.append(key.label, path.label, ...(sent === undefined ? [] : [body]), button, answer);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    answer.textContent = "…";
    const headers = key.field.value === "" ? {} : { authorization: `Bearer ${key.field.value}` };
    const init = sent === undefined ? { method, headers } : { method, headers, body: body.value };
    try {
      const response = await fetch(path.field.value, init);
      answer.textContent = `${response.status}\n${await response.text()}`;
    } catch (error) {
      answer.textContent = String(error);
    }
  });
  example.append(form);
}

function input(text, type, value = "") {
  const label = document.createElement("label");
  const field = document.createElement("input");
  field.type = type;
  field.value = value;
  field.autocomplete = "off";
  label.append(text, field);
  return { label, field };
}
