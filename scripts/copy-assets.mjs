import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { root, writeAsset } from "./compile.mjs";

/**
 * Copies assets to dist/assets: those of the documentation pages. So the published package needs none of these development
 * dependencies.
 */
const { resolve } = createRequire(import.meta.url);
const swagger = path.join(path.dirname(resolve("@fastify/swagger-ui/package.json")), "static");
const pages = path.join(root, "src/server/routes/pages");

// the bundle's only request to another host: the logo beside the link to its project
const REMOTE_LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg";
const EMPTY_IMAGE = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E";
const SWAGGER_LICENCE =
  "Swagger UI, Copyright SmartBear Software Inc., is licensed under the Apache License, Version 2.0.\n";

const redoc = resolve("redoc/bundles/redoc.standalone.js");
writeAsset("redoc/redoc.standalone.js", readFileSync(redoc, "utf8").replaceAll(REMOTE_LOGO, EMPTY_IMAGE));
copy(`${redoc}.LICENSE.txt`, "redoc/redoc.standalone.js.LICENSE.txt");
for (const name of ["swagger-ui-bundle.js", "swagger-ui.css"])
  copy(path.join(swagger, name), `docs/static/${name}`);
writeAsset("docs/static/swagger-ui.LICENSE.txt", SWAGGER_LICENCE);
for (const name of ["page.js", "page.css"]) copy(path.join(pages, name), `docs/static/${name}`);

function copy(from, name) {
  writeAsset(name, readFileSync(from));
}
