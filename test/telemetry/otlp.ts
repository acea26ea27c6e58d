import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import protobuf from "protobufjs";

/** What is read of opentelemetry/proto/collector/trace/v1/trace_service.proto and the files that it imports, version 1. */
const DEFINITIONS = `
  syntax = "proto3";
  message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; Status status = 15;
  }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
`;
const Request = protobuf.parse(DEFINITIONS, { keepCase: true }).root.lookupType("ExportTraceServiceRequest");

export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A receiver of OTLP over HTTP in protobuf. */
export async function startReceiver(status = 200) {
  const spans: ReceivedSpan[] = [];
  const headers: IncomingHttpHeaders[] = [];
  let raw = "";
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    raw += bytes.toString("latin1");
    headers.push(request.headers);
    spans.push(...spansIn(bytes));
    response.writeHead(status, { "content-type": "application/x-protobuf" }).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    headers: headers as readonly IncomingHttpHeaders[],
    spans: spans as readonly ReceivedSpan[],
    /** All bytes so far. */
    raw: () => raw,
    close: () => server.close(),
  };
}

interface RawSpan {
  readonly [name: string]: never;
}

function spansIn(bytes: Buffer): readonly ReceivedSpan[] {
  const message = Request.toObject(Request.decode(bytes), { longs: Number, defaults: true, arrays: true });
  const resources: { resource: { attributes: KeyValue[] }; scope_spans: { spans: RawSpan[] }[] }[] =
    message.resource_spans;
  return resources.flatMap(({ resource, scope_spans }) =>
    scope_spans.flatMap(({ spans }) => spans.map((span) => readSpan(span, valuesOf(resource.attributes)))),
  );
}

interface KeyValue {
  readonly key: string;
  readonly value: Record<string, unknown>;
}

function valuesOf(attributes: readonly KeyValue[]) {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.string_value || value.int_value || value.double_value]),
  );
}

function readSpan(span: RawSpan, resource: Readonly<Record<string, unknown>>): ReceivedSpan {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
  return {
    name: span.name ?? "",
    traceId: hex(span.trace_id as never),
    spanId: hex(span.span_id as never),
    parentId: hex(span.parent_span_id as never),
    start: Number(span.start_time_unix_nano) / 1e6,
    end: Number(span.end_time_unix_nano) / 1e6,
    attributes: valuesOf(span.attributes ?? []),
    resource,
  };
}
