import { LRUCache } from "lru-cache";

/** How a gateway chooses a replica. */
export type Route = "random" | "hash" | "bounded hash";

export interface Fleet {
  readonly replicas: number;
  /** States that one replica's cache holds. */
  readonly cacheStates: number;
  /** The k-th most frequent state is asked about k^-exponent times as often as the first. */
  readonly exponent: number;
  readonly route: Route;
}

export interface FleetFigures {
  /** Share of requests whose state was in the cache of the replica that got it. */
  readonly hitRate: number;
  /** Requests of the busiest replica, in means of all. */
  readonly busiest: number;
}

/** Chosen: the head of the distribution fits no cache here, and a cell takes a tenth of a second. */
const STATES = 100_000;
const WARM_UP = 60_000;
const MEASURED = 60_000;
const POINTS = 100; // on the ring, of each replica
/** As in deploy/affinity/envoy.yaml: a replica that has more than twice the mean passes requests on. */
const BOUND = 2;
/** Of the requests that a bound looks at. Chosen: about as many as are open in a fleet at a time, ten a replica. */
const OPEN_EACH = 10;

/** Requests for states of a Zipf distribution, before replicas with a cache of the states used last. Seeded. */
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

/** @returns the number of a state, the most frequent one 0 */
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

/** 32 bits from a number. @see https://github.com/aappleby/smhasher, finalizer of MurmurHash3 */
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
