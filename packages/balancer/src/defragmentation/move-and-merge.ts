/**
 * Moves small chunks to the shard of a neighbour and merges the two. Server:
 * MoveAndMergeChunksPhase.
 */
import type { KnownChunk } from '../chunks/chunk-map.js'
import type {
  Action,
  ChunkBounds,
  DefragmentationMove,
  MoveOutcome,
  Outcome,
  Phase,
  PhaseName,
  ZoneOf,
} from './phase.js'

/**
 * A chunk is small up to this percentage of the chunk size. Server: kSmallChunkSizeThresholdPctg.
 */
const smallPercent = 25

export function smallChunkBytes(maxChunkSizeBytes: number): number {
  return Math.floor(maxChunkSizeBytes / 100) * smallPercent
}

export interface ShardLoad {
  readonly id: string
  readonly isDraining: boolean
  /** Of this collection. */
  readonly bytes: number
}

interface Piece extends ChunkBounds {
  readonly shard: string
  bytes: number
  busy: boolean
  /**
   * All neighbours had to delete the range first. The piece is tried once more, then left alone.
   */
  postponed: boolean
  readonly avoid: Set<string>
  previous: Piece | null
  next: Piece | null
}

/** A piece moves to its neighbour's shard, to be merged there. */
interface Joining {
  readonly piece: Piece
  readonly neighbour: Piece
}

export class MoveAndMergeChunksPhase implements Phase {
  readonly name = 'moveAndMergeChunks'
  #next: PhaseName = 'mergeChunks'
  #aborted = false
  readonly #smallBytes: number
  readonly #zoneOf: ZoneOf
  readonly #draining: ReadonlySet<string>
  readonly #bytes: Map<string, number>
  /** By shard, smallest first, postponed pieces last. */
  readonly #small = new Map<string, Piece[]>()
  readonly #moving = new Map<string, Joining>()
  #mergeable: Joining[] = []
  readonly #merging = new Map<string, Joining>()

  constructor(chunks: readonly KnownChunk[], shards: readonly ShardLoad[], zoneOf: ZoneOf, maxChunkSizeBytes: number) {
    this.#zoneOf = zoneOf
    this.#smallBytes = smallChunkBytes(maxChunkSizeBytes)
    this.#draining = new Set(shards.filter(({ isDraining }) => isDraining).map(({ id }) => id))
    this.#bytes = new Map(shards.map(({ id, bytes }) => [id, bytes]))
    if (chunks.some(({ estimatedBytes }) => estimatedBytes === null)) {
      this.abort('mergeAndMeasureChunks')
      return
    }
    let previous: Piece | null = null
    for (const { min, max, minDocument, maxDocument, shard, estimatedBytes } of chunks) {
      const bounds = { min, max, minDocument, maxDocument, shard }
      const piece: Piece = {
        ...bounds,
        bytes: estimatedBytes!,
        busy: false,
        postponed: false,
        avoid: new Set(),
        previous,
        next: null,
      }
      if (previous !== null) previous.next = piece
      previous = piece
      if (piece.bytes > this.#smallBytes) continue
      const others = this.#small.get(shard)
      if (others === undefined) this.#small.set(shard, [piece])
      else others.push(piece)
    }
    for (const shard of this.#small.keys()) this.#sort(shard)
  }

  get next(): PhaseName {
    return this.#next
  }

  get isComplete(): boolean {
    return this.#small.size + this.#moving.size + this.#mergeable.length + this.#merging.size === 0
  }

  get remaining(): number {
    return [...this.#small.values()].reduce((sum, pieces) => sum + pieces.length, 0)
  }

  abort(next: PhaseName): void {
    this.#aborted = true
    this.#next = next
    this.#mergeable = []
    this.#small.clear()
  }

  nextMove(available: Set<string>): DefragmentationMove | null {
    const shards = [...this.#bytes].toSorted(([, a], [, b]) => b - a)
    for (const [shard] of shards) {
      if (!available.has(shard)) continue
      const joining = this.#nextJoining(shard, available)
      if (joining === null) continue
      const { piece, neighbour } = joining
      piece.busy = true
      neighbour.busy = true
      this.#moving.set(piece.min, joining)
      if (piece.shard === neighbour.shard) {
        this.#arrived(joining)
        return this.nextMove(available)
      }
      available.delete(piece.shard)
      available.delete(neighbour.shard)
      return {
        range: piece,
        from: piece.shard,
        to: neighbour.shard,
        because: `the collection is defragmented, and ${neighbour.shard} has the neighbour of a chunk of ${piece.bytes} bytes`,
      }
    }
    return null
  }

  moved({ range }: DefragmentationMove, outcome: MoveOutcome): void {
    const joining = this.#moving.get(range.min)!
    const { piece, neighbour } = joining
    if (outcome === 'done' && !this.#aborted) {
      this.#arrived(joining)
      return
    }
    this.#moving.delete(range.min)
    if (this.#aborted) return
    piece.busy = false
    neighbour.busy = false
    if (outcome === 'too-large') this.#isNotSmall(piece)
    else if (outcome === 'not-deleted-yet') piece.avoid.add(neighbour.shard)
    else if (outcome === 'failed') this.abort('mergeAndMeasureChunks')
  }

  nextAction(): Action | null {
    const joining = this.#mergeable.shift()
    if (joining === undefined) return null
    const range = joined(joining)
    this.#merging.set(range.min, joining)
    return { kind: 'merge', shard: joining.neighbour.shard, range }
  }

  applied({ range }: Action, { status }: Outcome): void {
    const joining = this.#merging.get(range.min)!
    this.#merging.delete(range.min)
    if (this.#aborted) return
    if (status === 'retry') this.#mergeable.push(joining)
    else if (status === 'failed') this.abort('mergeAndMeasureChunks')
    else this.#merged(joining)
  }

  #arrived(joining: Joining): void {
    const { piece, neighbour } = joining
    this.#moving.delete(piece.min)
    this.#bytes.set(piece.shard, (this.#bytes.get(piece.shard) ?? 0) - piece.bytes)
    this.#bytes.set(neighbour.shard, (this.#bytes.get(neighbour.shard) ?? 0) + piece.bytes)
    this.#mergeable.push(joining)
  }

  #merged({ piece, neighbour }: Joining): void {
    this.#isNotSmall(piece)
    const { min, minDocument, max, maxDocument } = joined({ piece, neighbour })
    Object.assign(neighbour, { min, minDocument, max, maxDocument, bytes: neighbour.bytes + piece.bytes, busy: false })
    if (piece.previous !== null) piece.previous.next = piece.next
    if (piece.next !== null) piece.next.previous = piece.previous
    if (neighbour.bytes > this.#smallBytes) this.#isNotSmall(neighbour)
    else this.#sort(neighbour.shard)
  }

  /** A small piece of the shard that can join a neighbour now. Drops pieces that can join none. */
  #nextJoining(shard: string, available: ReadonlySet<string>): Joining | null {
    const pieces = this.#small.get(shard)
    if (pieces === undefined) return null
    for (const piece of [...pieces]) {
      if (piece.busy) continue
      const neighbours = this.#neighboursOf(piece)
      const ready = neighbours.filter((each) => !each.busy && available.has(each.shard) && !piece.avoid.has(each.shard))
      if (ready.length > 0) return { piece, neighbour: this.#better(piece, ready) }
      const isHopeless = neighbours.every(
        (each) => !each.busy && available.has(each.shard) && piece.avoid.has(each.shard),
      )
      if (!isHopeless) continue
      if (neighbours.length > 0 && !piece.postponed) {
        piece.postponed = true
        piece.avoid.clear()
        this.#sort(shard)
      } else this.#isNotSmall(piece)
    }
    return null
  }

  #neighboursOf(piece: Piece): Piece[] {
    return [piece.next, piece.previous].filter(
      (each): each is Piece =>
        each !== null &&
        this.#zoneOf(each) === this.#zoneOf(piece) &&
        (each.shard === piece.shard || !this.#draining.has(each.shard)),
    )
  }

  /** Ties go to the neighbour on the shard with less data, then to the next one. */
  #better(piece: Piece, [first, second]: readonly Piece[]): Piece {
    if (second === undefined) return first!
    const difference = this.#rank(piece, second) - this.#rank(piece, first!)
    const bytesOf = ({ shard }: Piece) => this.#bytes.get(shard) ?? 0
    return difference > 0 || (difference === 0 && bytesOf(second) < bytesOf(first!)) ? second : first!
  }

  /**
   * Prefers a neighbour on the same shard, then a larger one, then one with which the piece stops
   * being small.
   */
  #rank(piece: Piece, neighbour: Piece): number {
    let rank = 0
    if (piece.shard === neighbour.shard) rank += 8
    else if (piece.bytes < neighbour.bytes) rank += 4
    if (piece.bytes + neighbour.bytes > this.#smallBytes) rank += neighbour.bytes < this.#smallBytes ? 2 : 1
    return rank
  }

  #isNotSmall(piece: Piece): void {
    const pieces = this.#small.get(piece.shard)
    const at = pieces?.indexOf(piece) ?? -1
    if (at < 0) return
    pieces!.splice(at, 1)
    if (pieces!.length === 0) this.#small.delete(piece.shard)
  }

  #sort(shard: string): void {
    this.#small.get(shard)?.sort((a, b) => Number(a.postponed) - Number(b.postponed) || a.bytes - b.bytes)
  }
}

function joined({ piece, neighbour }: Joining): ChunkBounds {
  const [low, high] = neighbour.max === piece.min ? [neighbour, piece] : [piece, neighbour]
  return { min: low.min, minDocument: low.minDocument, max: high.max, maxDocument: high.maxDocument }
}
