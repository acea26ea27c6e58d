import { LRUCache } from "lru-cache";

/** How a gateway chooses a replica. */
export type Route = "random" | "hash" | "bounded hash";

export interface Fleet {
  readonly replicas: number;
  /** States that one replica's cache holds. */
  readonly cacheStates: number;
  /** Zipf exponent: the k-th most frequent state occurs k^-exponent times as often as the first. */
  readonly exponent: number;
  readonly route: Route;
}

export interface FleetFigures {
  /** Share of requests whose state was in the cache of the replica that got it. */
  readonly hitRate: number;
  /** Requests of the busiest replica, relative to the mean. */
  readonly busiest: number;
}

/** Number of states. Chosen: too many for any cache here, and few enough to simulate a cell in a tenth of a second. */
const STATES = 100_000;
const WARM_UP = 60_000;
const MEASURED = 60_000;
const POINTS = 100; // points of each replica on the hash ring
/** As in deploy/affinity/envoy.yaml: a replica with more than twice the mean load passes requests on. */
const BOUND = 2;
/** Recent requests per replica that count as load. Chosen: about as many as are open at a time. */
const OPEN_EACH = 10;

/** Simulates requests with Zipf-distributed states to replicas with an LRU cache of states. Seeded. */
export function simulate({ replicas, cacheStates, exponent, route }: Fleet): FleetFigures {
  const random = mulberry32(1);
  const draw = zipf(exponent, random);
  const choose = router(replicas, route, random);
  const caches = Array.from({ length: replicas }, () => new LRUCache<number, true>({ max: cacheStates }));
  const served = new Int32Array(replicas);
  let hits = 0;
  for (let request = 0; request < WARM_UP + MEASURED; request++) {
    const state = draw();
    const replica = choose(state);
    const isHit = caches[replica]?.get(state) === true;
    caches[replica]?.set(state, true);
    if (request < WARM_UP) continue;
    hits += Number(isHit);
    served[replica] = (served[replica] ?? 0) + 1;
  }
  return { hitRate: hits / MEASURED, busiest: (Math.max(...served) * replicas) / MEASURED };
}

/** @returns a function that draws a state's number; 0 is the most frequent state */
function zipf(exponent: number, random: () => number): () => number {
  const sums = new Float64Array(STATES);
  let sum = 0;
  for (let rank = 0; rank < STATES; rank++) {
    sum += (rank + 1) ** -exponent;
    sums[rank] = sum;
  }
  return () => {
    const wanted = random() * sum;
    let [low, high] = [0, STATES - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

function router(replicas: number, route: Route, random: () => number): (state: number) => number {
  if (route === "random") return () => Math.floor(random() * replicas);
  const ring = Array.from({ length: replicas * POINTS }, (_, at) => ({
    replica: at % replicas,
    at: hash(at, 1),
  })).sort((a, b) => a.at - b.at);
  const first = (state: number) => {
    const at = hash(state, 2);
    let [low, high] = [0, ring.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ring[middle]?.at ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const replicaAt = (at: number) => ring[at % ring.length]?.replica ?? 0;
  if (route === "hash") return (state) => replicaAt(first(state));
  const open: number[] = [];
  const openOn = new Int32Array(replicas);
  return (state) => {
    let at = first(state);
    while ((openOn[replicaAt(at)] ?? 0) >= BOUND * OPEN_EACH) at += 1;
    const replica = replicaAt(at);
    open.push(replica);
    openOn[replica] = (openOn[replica] ?? 0) + 1;
    if (open.length > OPEN_EACH * replicas) {
      const ended = open.shift() ?? 0;
      openOn[ended] = (openOn[ended] ?? 0) - 1;
    }
    return replica;
  };
}

/** A 32-bit hash of a number. @see https://github.com/aappleby/smhasher, finalizer of MurmurHash3 */
function hash(value: number, salt: number): number {
  let bits = Math.imul(value + 1, 0x9e3779b1) ^ Math.imul(salt, 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** @see https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
