/**
 * Placements that are kept once for all members of a process: a simulated cluster of many shards cannot keep a table of all chunks for each
 * of them. Who refreshes goes on from the newest placement that anybody knows, so that it asks for less; what it knows afterwards is what it
 * would know without this.
 */
import { findField, readUint32 } from '@shardlab/bson'
import {
  comparePlacement,
  isOlderGeneration,
  sameGeneration,
  type PlacementVersion,
} from '../model/placement-version.js'
import {
  applyPlacementAnswer,
  generationOf,
  isOfGeneration,
  type CollectionPlacement,
  type PlacementAnswer,
} from './placement.js'

/** What members keep once for all, where they do. */
export interface Sharing {
  readonly shared?: Map<string, unknown>
  /** Absent: who only looks on need not know the time. */
  now?(): number
}

/** Chunks that are too many to travel: whoever shares finds them here. */
interface LeftAnswer {
  readonly collection: Uint8Array
  readonly chunks: readonly Uint8Array[]
  readonly atMs: number
}

/** So long they are kept at least: much longer than anybody waits for an answer. Otherwise what has changed since would never be given back. */
const keptMs = 60_000

const chunksThatTravelMax = 10_000

/** Of no collection: who asks with it knows nothing, and finds what does not travel. */
const nothingKnown: PlacementVersion = ['', 0, 0, 0, 0]

/** The version to ask the catalog with. @param known null for all chunks */
export function versionToAskWith(
  { shared }: Sharing,
  known: { readonly version: PlacementVersion } | null,
): PlacementVersion | null {
  return known?.version ?? (shared === undefined ? null : nothingKnown)
}

/** What the config server sends of an answer: where members share, not the chunks, if they are many. */
export function leaveAnswer(
  sharing: Sharing,
  ns: string,
  since: PlacementVersion | null,
  answer: PlacementAnswer,
): readonly Uint8Array[] {
  const { shared } = sharing
  const { collection, chunks, full } = answer
  if (
    shared === undefined ||
    since?.[0] !== nothingKnown[0] ||
    !full ||
    collection === null ||
    chunks.length <= chunksThatTravelMax
  )
    return chunks
  leftIn(shared).set(ns, { collection, chunks, atMs: sharing.now?.() ?? 0 })
  return []
}

/** The answer to {@link versionToAskWith} with the chunks that did not travel; what was left later, of the same creation of the collection, is as good. */
export function wholeAnswer<A extends PlacementAnswer>({ shared }: Sharing, ns: string, answer: A): A {
  const { collection, chunks, full } = answer
  if (shared === undefined || !full || collection === null || chunks.length > 0) return answer
  const left = leftIn(shared).get(ns)
  if (left === undefined || generationOf(left.collection).join() !== generationOf(collection).join()) return answer
  return { ...answer, chunks: left.chunks }
}

function leftIn(shared: Map<string, unknown>): Map<string, LeftAnswer> {
  const known = shared.get('whole answers') as Map<string, LeftAnswer> | undefined
  if (known !== undefined) return known
  const left = new Map<string, LeftAnswer>()
  shared.set('whole answers', left)
  return left
}

/** Answers that are on their way at the same time are about versions not further apart than this. */
const recentMax = 256

/** The placements that a member knows; without {@link Sharing.shared} each has its own. */
export class SharedPlacements {
  /** By namespace the last ones, of one generation and in the order of their versions; null: nothing is shared. */
  readonly #recent: Map<string, CollectionPlacement[]> | null
  readonly #sharing: Sharing

  constructor(sharing: Sharing) {
    this.#sharing = sharing
    this.#recent = sharing.shared === undefined ? null : recentIn(sharing.shared)
  }

  /** From what a member refreshes that knows this of a collection. */
  before(ns: string, own: CollectionPlacement | null): CollectionPlacement | null {
    const newest = this.#recent?.get(ns)?.at(-1)
    return newest !== undefined && (own === null || isNewer(newest.table.version, own.table.version)) ? newest : own
  }

  /** The chunks of the last whole answer that did not travel: as they were then; none when that is long ago. */
  left(ns: string): readonly Uint8Array[] {
    const { shared } = this.#sharing
    return shared === undefined ? [] : (leftIn(shared).get(ns)?.chunks ?? [])
  }

  /**
   * The placement after the catalog's answer; null when the catalog does not have the collection.
   * @param known what the answer builds on
   * @throws CommandError as {@link applyPlacementAnswer}
   */
  after(ns: string, known: CollectionPlacement | null, received: PlacementAnswer): CollectionPlacement | null {
    const placement = this.seenAfter(ns, known, received)
    if (placement !== null) this.#keep(ns, placement)
    return placement
  }

  /** {@link after} for somebody who only looks on: nobody goes on from what he has seen. */
  seenAfter(ns: string, known: CollectionPlacement | null, received: PlacementAnswer): CollectionPlacement | null {
    const answer = wholeAnswer(this.#sharing, ns, received)
    const recent = this.#recent?.get(ns) ?? []
    return goOn(ns, recent, known, answer) ?? inPlaceOfLost(recent, answer) ?? applyPlacementAnswer(ns, known, answer)
  }

  #keep(ns: string, placement: CollectionPlacement): void {
    const recent = this.#recent?.get(ns)
    const { version } = placement.table
    if (recent === undefined || !sameGeneration(recent[0]!.table.version, version)) {
      if (recent === undefined || isNewer(version, recent[0]!.table.version)) this.#recent?.set(ns, [placement])
      return
    }
    const at = countUpTo(recent, version[3], version[4])
    if (at > 0 && comparePlacement(recent[at - 1]!.table.version, version) === 0) return
    recent.splice(at, 0, placement)
    if (recent.length > recentMax) recent.shift()
    this.#giveBack(ns)
  }

  /** From now on who comes too late for the chunks begins with a placement that others know. */
  #giveBack(ns: string): void {
    const left = leftIn(this.#sharing.shared!)
    const answer = left.get(ns)
    if (answer !== undefined && (this.#sharing.now?.() ?? 0) - answer.atMs > keptMs) left.delete(ns)
  }
}

/** Where chunks did not travel and are not there any more: what others have learned since is as good. Null: the answer has its chunks, or nobody has. */
function inPlaceOfLost(
  recent: readonly CollectionPlacement[],
  { collection, chunks, full }: PlacementAnswer,
): CollectionPlacement | null {
  const newest = recent.at(-1)
  if (newest === undefined || collection === null || !full || chunks.length > 0) return null
  return isOfGeneration(collection, newest.table.version) ? newest : null
}

/**
 * What others have learned since `known`, or since all was told, need not be made again. Null: nobody knows more, or all know more than the
 * answer tells. The answer's chunks are in the order of their versions.
 * @param recent in the order of their versions
 */
function goOn(
  ns: string,
  recent: readonly CollectionPlacement[],
  known: CollectionPlacement | null,
  { collection, chunks, full }: PlacementAnswer,
): CollectionPlacement | null {
  const last = chunks.at(-1)
  if (collection === null || last === undefined || (!full && recent.at(-1) === known)) return null
  const [major, minor] = versionOf(last)
  const base = recent[countUpTo(recent, major, minor) - 1]
  if (base === undefined) return null
  const { version } = base.table
  if (full ? !isOfGeneration(collection, version) : known === null || !isNewer(version, known.table.version))
    return null
  if (!full && !sameGeneration(version, known!.table.version)) return null
  let from = chunks.length
  while (from > 0 && isOlder(version, chunks[from - 1]!)) from--
  return from === chunks.length
    ? base
    : applyPlacementAnswer(ns, base, { collection, chunks: chunks.slice(from), full: false })
}

function recentIn(shared: Map<string, unknown>): Map<string, CollectionPlacement[]> {
  const known = shared.get('placements') as Map<string, CollectionPlacement[]> | undefined
  if (known !== undefined) return known
  const recent = new Map<string, CollectionPlacement[]>()
  shared.set('placements', recent)
  return recent
}

/** Generations without timestamps, before 5.0, have no order: then it is not known. */
function isNewer(version: PlacementVersion, than: PlacementVersion): boolean {
  return sameGeneration(version, than) ? comparePlacement(version, than) > 0 : isOlderGeneration(than, version)
}

/** How many of them, in the order of their versions, have this version or an older one. */
function countUpTo(recent: readonly CollectionPlacement[], major: number, minor: number): number {
  let low = 0
  let high = recent.length
  // Most ask for the newest.
  let middle = high - 1
  while (low < high) {
    const { version } = recent[middle]!.table
    if (version[3] < major || (version[3] === major && version[4] <= minor)) low = middle + 1
    else high = middle
    middle = (low + high) >>> 1
  }
  return low
}

function isOlder(version: PlacementVersion, chunk: Uint8Array): boolean {
  const [major, minor] = versionOf(chunk)
  return version[3] < major || (version[3] === major && version[4] < minor)
}

function versionOf(chunk: Uint8Array): [major: number, minor: number] {
  const lastmod = findField(chunk, 'lastmod')!
  return [readUint32(lastmod.bytes, lastmod.start + 4), readUint32(lastmod.bytes, lastmod.start)]
}
