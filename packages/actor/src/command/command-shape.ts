/**
 * The shape of a command: everything except the values that vary from one command to the next.
 * Clients send the same few commands again and again, each with another key or document, so results
 * that depend on the shape only are memoized.
 */
import { BsonType, valueEnd } from '@shardlab/bson'

/** Only the types of these arguments are part of a shape. All other bytes of a command are. */
export const varyingArguments: ReadonlySet<string> = new Set([
  '$clusterTime',
  'deletes',
  'documents',
  'filter',
  'lsid',
  'ops',
  'q',
  'query',
  'txnNumber',
  'update',
  'updates',
])

/** `start` and `end`: in the command from which the shape was made. */
export interface ShapedArgument {
  readonly name: string
  readonly type: number
  readonly start: number
  readonly end: number
  readonly varies: boolean
}

interface Memo {
  readonly scope: object
  readonly value: unknown
}

/**
 * By how many bytes the values of a command are shifted against the command that made the shape.
 */
export type Shifts = readonly number[]

/** All values have the same lengths. */
export const noShifts: Shifts = []

/** The length of a document is not part of a shape. */
const lengthBytes = 4

/** Commands with more fixed bytes are not repeated, so they get no reusable shape. */
const fixedBytesMax = 4096

export class CommandShape {
  readonly command: string
  /** The command's own field. */
  readonly target: ShapedArgument
  readonly args: readonly ShapedArgument[]
  readonly #indexes = new Map<string, number>()
  /** For each argument, the number of varying values before it. */
  readonly #varyingBefore: number[] = []
  readonly #memos = new Map<object, Memo>()
  /** The bytes between varying values, and the end of each stretch; null: not reusable. */
  #fixed: Uint8Array | null = null
  readonly #stretchEnds: number[] = []
  readonly #varyingTypes: number[] = []
  readonly #varyingSizes: number[] = []
  #fixedShifts: Shifts = noShifts
  #sequences: readonly string[] = []
  #db: string | null = null
  #namespace = ''
  /** The database for which the collection's name was last checked. */
  checkedIn: string | null = null

  constructor(target: ShapedArgument, args: readonly ShapedArgument[]) {
    this.command = target.name
    this.target = target
    this.args = args
    let varying = target.varies ? 1 : 0
    for (let i = 0; i < args.length; i++) {
      this.#indexes.set(args[i]!.name, i)
      this.#varyingBefore.push(varying)
      if (args[i]!.varies) varying++
    }
  }

  indexOf(name: string): number | undefined {
    return this.#indexes.get(name)
  }

  shiftOf(index: number, shifts: Shifts): number {
    return shifts === noShifts ? 0 : shifts[this.#varyingBefore[index]!]!
  }

  endShiftOf(index: number, shifts: Shifts): number {
    return shifts === noShifts ? 0 : shifts[this.#varyingBefore[index]! + (this.args[index]!.varies ? 1 : 0)]!
  }

  /** The command's bytes without its length and its varying values; null: not reusable. */
  get fixedBytes(): Uint8Array | null {
    return this.#fixed
  }

  get fixedShifts(): Shifts {
    return this.#fixedShifts
  }

  /** Cached. The command's own field must be a string. */
  namespace(db: string, collection: () => string): string {
    if (this.#db !== db || this.target.varies) {
      this.#namespace = `${db}.${collection()}`
      this.#db = db
    }
    return this.#namespace
  }

  memo<T>(key: object, scope: object, work: () => T): T {
    const known = this.#memos.get(key)
    if (known?.scope === scope) return known.value as T
    const value = work()
    this.#memos.set(key, { scope, value })
    return value
  }

  /** Makes the shape reusable by {@link match}. @returns false: it is too large */
  prepare(body: Uint8Array, sequences: readonly string[]): boolean {
    const varying = [this.target, ...this.args].filter(({ varies }) => varies)
    const stretches: Uint8Array[] = []
    const fixedShifts = [-lengthBytes]
    let from = lengthBytes
    let length = 0
    for (const { type, start, end } of varying) {
      fixedShifts.push(fixedShifts.at(-1)! - (end - start))
      stretches.push(body.subarray(from, start))
      length += start - from
      this.#stretchEnds.push(length)
      this.#varyingTypes.push(type)
      this.#varyingSizes.push(end - start)
      from = end
    }
    stretches.push(body.subarray(from))
    length += body.length - from
    if (length > fixedBytesMax) return false
    this.#stretchEnds.push(length)
    this.#fixedShifts = fixedShifts
    this.#sequences = [...sequences]
    this.#fixed = new Uint8Array(length)
    let at = 0
    for (const stretch of stretches) {
      this.#fixed.set(stretch, at)
      at += stretch.length
    }
    return true
  }

  /** null: the command has another shape. */
  match(body: Uint8Array, sequences: readonly string[]): Shifts | null {
    const fixed = this.#fixed!
    const types = this.#varyingTypes
    if (!sameNames(sequences, this.#sequences)) return null
    let shifts: number[] | null = null
    let moved = 0
    let at = lengthBytes
    let known = 0
    for (let i = 0; ; i++) {
      for (const end = this.#stretchEnds[i]!; known < end; known++, at++) if (fixed[known] !== body[at]) return null
      if (i === types.length) break
      const start = at
      at = valueEnd(types[i]!, body, at)
      const longer = at - start - this.#varyingSizes[i]!
      if (longer !== 0) {
        moved += longer
        shifts ??= Array.from({ length: i + 1 }, () => 0)
      }
      shifts?.push(moved)
    }
    if (at !== body.length) return null
    return shifts ?? noShifts
  }
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

const slotCount = 64
const shapesOfSlotMax = 8
/** Hashed bytes of the command's and the collection's name. */
const hashedBytes = 24

/** A cache: each hit moves a shape up by one place in its slot. */
export class CommandShapes {
  readonly #slots: CommandShape[][] = []
  shifts: Shifts = noShifts

  find(body: Uint8Array, sequences: readonly string[]): CommandShape | null {
    const shapes = this.#slots[slotOf(body)]
    if (shapes === undefined) return null
    for (let i = 0; i < shapes.length; i++) {
      const shape = shapes[i]!
      const shifts = shape.match(body, sequences)
      if (shifts === null) continue
      if (i > 0) {
        shapes[i] = shapes[i - 1]!
        shapes[i - 1] = shape
      }
      this.shifts = shifts
      return shape
    }
    return null
  }

  add(shape: CommandShape, body: Uint8Array, sequences: readonly string[]): void {
    if (!shape.prepare(body, sequences)) return
    const shapes = (this.#slots[slotOf(body)] ??= [])
    if (shapes.length === shapesOfSlotMax) shapes.pop()
    // In the middle: at the end, the next one-off command would replace it before its second use.
    shapes.splice(shapesOfSlotMax / 2, 0, shape)
  }
}

function slotOf(body: Uint8Array): number {
  const most = Math.min(body.length, 4 + hashedBytes)
  let at = 4
  let hash = body[at]!
  // After the command's name, only a string is hashed: the collection's name. Other values may
  // vary.
  while (++at < most && body[at] !== 0) hash = (hash * 31 + body[at]!) | 0
  if (body[4] === BsonType.string) for (at += 5; at < most && body[at] !== 0; at++) hash = (hash * 31 + body[at]!) | 0
  return (hash ^ (hash >>> 6) ^ (hash >>> 12)) & (slotCount - 1)
}

/** A cursor's id varies, and so does a document. */
export function variesAsTarget(type: number): boolean {
  return type === BsonType.int64 || type === BsonType.object || type === BsonType.array
}
