import type { FastifyPluginCallback, FastifyRequest } from "fastify";
import { PageFile, TYPES } from "./page-file.ts";

type OpenapiDocument = Readonly<Record<string, unknown>>;

/** A dialect as the documentation pages show it. */
export interface ShownDialect {
  readonly name: string;
  readonly basePath: string;
  readonly contract: { readonly document: OpenapiDocument };
}

/** A contract that the pages show. */
interface Shown {
  /** Below /docs and /redoc; empty for the plain contract. */
  readonly name: string;
  readonly title: string;
  /** Of links to it. */
  readonly label: string;
  /** Where its document is served, and where its operations are: relative to the service's root. */
  readonly document: string;
  readonly operations: string;
}

/** The two viewers of a document: Swagger UI sends requests from its forms, Redoc is a reference. */
const VIEWERS = [
  {
    path: "docs",
    label: "Try requests",
    operationId: "getDocs",
    files: ["docs/static/swagger-ui.css", "docs/static/swagger-ui-bundle.js"],
  },
  { path: "redoc", label: "Reference", operationId: "getRedoc", files: ["redoc/redoc.standalone.js"] },
] as const;
type Viewer = (typeof VIEWERS)[number];

const SHARED_FILES = ["docs/static/page.css", "docs/static/page.js"] as const;

/** Nothing may be loaded from or sent to another host. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'", // both viewers create styles
  "img-src 'self' data:", // both viewers contain their icons as data: URLs
  "connect-src 'self'",
  "worker-src blob:", // Redoc's search
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

interface DocumentationOptions {
  readonly document: OpenapiDocument;
  readonly dialects: readonly ShownDialect[];
  readonly version: string;
}

/**
 * The documentation for people: each contract in Swagger UI below /docs, and in Redoc below /redoc. All addresses in the
 * pages are relative, so they also work behind a proxy that strips a prefix of the path.
 *
 * @throws Error if the pages have not been built
 */
export const documentation: FastifyPluginCallback<DocumentationOptions> = (app, options, done) => {
  const { document, dialects, version } = options;
  const shown: readonly Shown[] = [
    { name: "", label: "API", title: titleOf(document), document: "openapi.typed.json", operations: "" },
    ...dialects.map(({ name, basePath, contract }) => ({
      name,
      title: titleOf(contract.document),
      label: titleOf(contract.document),
      document: `docs/contracts/${name}.json`,
      operations: basePath.slice(1),
    })),
  ];
  for (const viewer of VIEWERS) {
    for (const contract of shown) {
      const config = contract.name === "" ? { operationId: viewer.operationId } : {};
      const address = addressOf(viewer, contract);
      for (const url of [address, `${address}/`])
        app.get(url, { config }, (request, reply) =>
          reply
            .headers({ "content-type": TYPES[".html"], "cache-control": "no-cache" })
            .header("content-security-policy", CONTENT_SECURITY_POLICY)
            .send(pageHtml(viewer, contract, shown, version, rootFrom(request))),
        );
    }
  }
  for (const { name, contract } of dialects) {
    const text = JSON.stringify(contract.document);
    app.get(`/docs/contracts/${name}.json`, (_request, reply) =>
      reply
        .headers({ "content-type": "application/json; charset=utf-8", "cache-control": "no-cache" })
        .send(text),
    );
  }
  for (const name of [...SHARED_FILES, ...VIEWERS.flatMap(({ files }) => files)]) {
    const file = new PageFile(name, { "cache-control": "public, max-age=3600" });
    app.get(`/${name}`, (request, reply) => file.send(request, reply));
  }
  done();
};

/** `info.title` of a document. */
function titleOf({ info }: OpenapiDocument): string {
  return typeof info === "object" && info !== null && "title" in info ? String(info.title) : "";
}

function addressOf({ path }: Viewer, { name }: Shown): string {
  return name === "" ? `/${path}` : `/${path}/${name}`;
}

/** The service's root, relative to the address of a request. */
function rootFrom({ raw: { url = "/" } }: FastifyRequest): string {
  const [path = "/"] = url.split("?");
  return "../".repeat(path.split("/").length - 2) || "./";
}

/** @param root relative to the page's own address */
function pageHtml(
  viewer: Viewer,
  contract: Shown,
  shown: readonly Shown[],
  version: string,
  root: string,
): string {
  const link = (to: Viewer, target: Shown, label: string) => {
    const isHere = to === viewer && target === contract;
    return isHere ? `<b>${label}</b>` : `<a href="${root}${addressOf(to, target).slice(1)}">${label}</a>`;
  };
  const contracts = shown.length === 1 ? [] : shown.map((other) => link(viewer, other, other.label));
  const viewers = VIEWERS.map((other) => link(other, contract, other.label));
  const files = [...SHARED_FILES.slice(0, 1), ...viewer.files, ...SHARED_FILES.slice(1)];
  const tags = files.map((file) =>
    file.endsWith(".css")
      ? `<link rel="stylesheet" href="${root}${file}">`
      : `<script ${file === "docs/static/page.js" ? 'type="module"' : "defer"} src="${root}${file}"></script>`,
  );
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${contract.title} ${version}</title>
    <link rel="icon" href="data:,">
    ${tags.join("\n    ")}
  </head>
  <body>
    <header>
      <a class="product" href="${root}">Typed Decision Service</a> <small>${version}</small>
      <nav aria-label="Contracts">${contracts.join(" ")}</nav>
      <nav aria-label="Views">${viewers.join(" ")}</nav>
    </header>
    <main id="document" data-document="${root}${contract.document}" data-operations="${root}${contract.operations}"
      data-rules="${root}redoc${contract.name === "" ? "" : `/${contract.name}`}#tag/Rules"></main>
    <noscript>This page needs JavaScript. <a href="${root}${contract.document}">The document</a> does not.</noscript>
  </body>
</html>
`;
}
