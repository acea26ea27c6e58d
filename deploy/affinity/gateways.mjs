// The gateways with the configurations beside this file, on the addresses of a test.
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { parse } from "yaml";

const read = (name) => readFileSync(path.join(import.meta.dirname, name), "utf8");

/** Writes the configuration into a folder. @returns the program and its arguments, for four services */
export const GATEWAYS = {
  nginx(folder, front, ports) {
    const site = path.join(folder, "site.conf");
    const at = (_, index) => `127.0.0.1:${[front, ...ports][index]}`;
    writeFileSync(site, read("nginx.conf").replace(/127\.0\.0\.1:870(\d)/g, at));
    const conf = path.join(folder, "nginx.conf");
    writeFileSync(
      conf,
      `daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr;
events {} http { access_log off; client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
uwsgi_temp_path ${folder}; scgi_temp_path ${folder}; include ${site}; }`,
    );
    return [process.env.NGINX ?? "nginx", ["-c", conf]];
  },

  envoy(folder, front, ports) {
    const { static_resources } = parse(read("envoy.yaml"));
    const at = (port) => ({ address: { socket_address: { address: "127.0.0.1", port_value: port } } });
    Object.assign(static_resources.listeners[0], at(front));
    const [group] = static_resources.clusters[0].load_assignment.endpoints;
    group.lb_endpoints = ports.map((port) => ({ endpoint: at(port) }));
    const conf = path.join(folder, "envoy.json");
    writeFileSync(conf, JSON.stringify({ static_resources }));
    const quiet = ["--concurrency", "1", "--log-level", "error", "--use-dynamic-base-id"];
    return [process.env.ENVOY ?? "envoy", ["-c", conf, ...quiet]];
  },
};

export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
