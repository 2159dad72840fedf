/**
 * What commands have in common that differ in their values only. Clients send the same few commands again and again, with another key or
 * another document in each: what follows from the rest of a command is worked out once.
 */
import { BsonType, valueEnd } from '@shardlab/bson'

/** Arguments whose values are no part of a shape, only their types. Nothing else that a command says differs from one to the next. */
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

/** One argument, where it lay in the command that the shape was made of. */
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

/** Where the values of one command lie, against those of the one that the shape was made of: by as much as those before them are longer. */
export type Shifts = readonly number[]

/** No value is longer or shorter. */
export const noShifts: Shifts = []

/** Of the length before a document, which is no part of a shape. */
const lengthBytes = 4

/** More fixed bytes than this are compared and kept for nothing: such a command does not come again. */
const fixedBytesMax = 4096

export class CommandShape {
  readonly command: string
  /** The value of the command's own field. */
  readonly target: ShapedArgument
  readonly args: readonly ShapedArgument[]
  readonly #indexes = new Map<string, number>()
  /** How many varying values lie before each argument. */
  readonly #varyingBefore: number[] = []
  readonly #memos = new Map<object, Memo>()
  /** The bytes between varying values, one after the other, and where each stretch of them ends; null: not to be recognised. */
  #fixed: Uint8Array | null = null
  readonly #stretchEnds: number[] = []
  readonly #varyingTypes: number[] = []
  readonly #varyingSizes: number[] = []
  #fixedShifts: Shifts = noShifts
  #sequences: readonly string[] = []
  /** The namespace that was asked for last, and the database in it. */
  #db: string | null = null
  #namespace = ''
  /** The database in which the collection was found to have a name that it may have. */
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

  /** The number of an argument; undefined: it is not given. */
  indexOf(name: string): number | undefined {
    return this.#indexes.get(name)
  }

  /** By how many bytes the value of this argument has moved. */
  shiftOf(index: number, shifts: Shifts): number {
    return shifts === noShifts ? 0 : shifts[this.#varyingBefore[index]!]!
  }

  /** The same for its end. */
  endShiftOf(index: number, shifts: Shifts): number {
    return shifts === noShifts ? 0 : shifts[this.#varyingBefore[index]! + (this.args[index]!.varies ? 1 : 0)]!
  }

  /** The bytes of a command of this shape without its length and its varying values, the same ones each time; null: it is not to be recognised. */
  get fixedBytes(): Uint8Array | null {
    return this.#fixed
  }

  /** Where the other values lie in {@link fixedBytes}. */
  get fixedShifts(): Shifts {
    return this.#fixedShifts
  }

  /** `db.collection`, where the command's own field is a string; the same string each time. */
  namespace(db: string, collection: () => string): string {
    if (this.#db !== db || this.target.varies) {
      this.#namespace = `${db}.${collection()}`
      this.#db = db
    }
    return this.#namespace
  }

  /** What `work` gave for this key and scope before, or gives now. */
  memo<T>(key: object, scope: object, work: () => T): T {
    const known = this.#memos.get(key)
    if (known?.scope === scope) return known.value as T
    const value = work()
    this.#memos.set(key, { scope, value })
    return value
  }

  /** From now on {@link match} finds commands of this shape. False: it is too large for that. */
  learn(body: Uint8Array, sequences: readonly string[]): boolean {
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

  /** Where the values of the command lie; null: it has another shape. */
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
/** So far the name of a command and that of its collection are looked at. */
const hashedBytes = 24

/** The shapes of one kind of command that came last. */
export class CommandShapes {
  readonly #slots: CommandShape[][] = []
  /** Where the command of the last {@link find} has its values. */
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
    if (!shape.learn(body, sequences)) return
    const shapes = (this.#slots[slotOf(body)] ??= [])
    if (shapes.length === shapesOfSlotMax) shapes.pop()
    // Not last: of commands that come once there may be one between any two that come often.
    shapes.splice(shapesOfSlotMax / 2, 0, shape)
  }
}

function slotOf(body: Uint8Array): number {
  const most = Math.min(body.length, 4 + hashedBytes)
  let at = 4
  let hash = body[at]!
  // Behind the name of the command a text says which collection; other values may be anything.
  while (++at < most && body[at] !== 0) hash = (hash * 31 + body[at]!) | 0
  if (body[4] === BsonType.string) for (at += 5; at < most && body[at] !== 0; at++) hash = (hash * 31 + body[at]!) | 0
  return (hash ^ (hash >>> 6) ^ (hash >>> 12)) & (slotCount - 1)
}

/** Is the value of a command's own field one that differs from command to command? A cursor's id is, and so is a document. */
export function variesAsTarget(type: number): boolean {
  return type === BsonType.int64 || type === BsonType.object || type === BsonType.array
}
