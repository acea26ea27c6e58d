// The script of the documentation pages: shows the document that the page names, in the viewer that the page has loaded.
const place = document.querySelector("#document");
const { document: source, operations, rules } = place.dataset;

/**
 * Operations come first: the rules in the text of the document follow them, behind one link. They are a section of their own in
 * the reference.
 */
function operationsFirst(text, hasSections) {
  const [intro, ...sections] = text.split(/^(?=## )/m);
  if (sections.length === 0) return { description: text, tags: [] };
  const link = `[Rules for all requests and responses](${hasSections ? "#tag/Rules" : rules})`;
  const description = sections.join("").replace(/^#/gm, "");
  return {
    description: `${intro.trim()}\n\n${link}`,
    tags: [{ name: "Rules", description, "x-traitTag": true }],
  };
}

const given = await (await fetch(source)).json();
const isReference = "Redoc" in window;
const { description, tags } = operationsFirst(given.info.description ?? "", isReference);
const shown = {
  ...given,
  info: { ...given.info, description },
  // the server that this page came from, whatever its address
  servers: [{ url: new URL(operations, location.href).href.replace(/\/$/, "") }],
  tags: isReference ? [...(given.tags ?? []), ...tags] : given.tags,
};

if (isReference) window.Redoc.init(shown, { hideDownloadButton: true }, place);
else
  window.SwaggerUIBundle({
    spec: shown,
    domNode: place,
    deepLinking: true,
    validatorUrl: null,
    layout: "BaseLayout",
    defaultModelsExpandDepth: 0,
  });
