// Runs in the browser: copies pages and code, fills in the address of this server, and leads the
// key "/" to the search. Without it the pages say the same.

const article = document.querySelector("article");
const address = article?.dataset.origin;

if (address !== undefined) {
  for (const code of article.querySelectorAll("code")) {
    if (code.textContent.includes(address)) {
      code.textContent = code.textContent.replaceAll(address, location.origin);
    }
  }
}

const written = (text) =>
  address === undefined ? text : text.replaceAll(address, location.origin);

/** Makes a button copy, and say so for a moment. */
function copies(button, read) {
  const { textContent: name } = button;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(await read());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not copied";
    }
    setTimeout(() => {
      button.textContent = name;
    }, 2000);
  });
}

// Only secure pages may copy.
if (navigator.clipboard !== undefined) {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    copies(button, async () => written(await (await fetch(button.dataset.copy)).text()));
    button.hidden = false;
  }
  for (const block of document.querySelectorAll("article pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy-code";
    button.textContent = "Copy";
    copies(button, async () => block.textContent);
    const frame = document.createElement("div");
    frame.className = "code";
    block.before(frame);
    frame.append(block, button);
  }
}

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input, textarea, select");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  document.getElementById("q").focus();
});
