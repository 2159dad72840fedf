/** A pattern as instructions for {@link runProgram}. */
import { characterSet, type CharacterSet } from './character-set.js'
import type { PatternNode, PatternTree, RepeatNode } from './tree.js'

export const Op = {
  /** `a`: the set; `b`: 1 reads the character before the position. */
  set: 0,
  /** Continues at `a`; if that fails, at `b`. */
  split: 1,
  jump: 2,
  /** Stores the position in register `a`. */
  save: 3,
  /** Empties the registers from `a` up to but not `b`. */
  clear: 4,
  /** Fails at the position in register `a`: a repetition that matched nothing. */
  progress: 5,
  start: 6,
  /** `a`: 1 for `\B`. */
  boundary: 7,
  /** Runs the next instruction up to `match`, and continues at `a`; `b`: 1 if it must fail. */
  look: 8,
  /** `a`: the group; `b`: 1 for backwards. */
  reference: 9,
  match: 10,
} as const

export interface Program {
  readonly op: Uint8Array
  readonly a: Int32Array
  readonly b: Int32Array
  readonly sets: readonly CharacterSet[]
  /** Numbers the split instructions; others have 0. */
  readonly splitOf: Int32Array
  readonly splitCount: number
  /** Two for the whole match and for each group, then one for each loop. */
  readonly registers: number
  readonly groupCount: number
  readonly hasReferences: boolean
  readonly ignoreCase: boolean
}

const instructionsMax = 50_000

/** Null: too large, because counted repetitions are written out. */
export function compileProgram({ root, groupCount, hasReferences }: PatternTree, flags: string): Program | null {
  const compiler = new ProgramCompiler(flags, 2 * (groupCount + 1))
  try {
    compiler.add(Op.save, 0)
    compiler.node(root, false)
    compiler.add(Op.save, 1)
    compiler.add(Op.match)
  } catch (error) {
    if (error instanceof TooLarge) return null
    throw error
  }
  const { op, a, b, sets, registers } = compiler
  let splitCount = 0
  return {
    op: Uint8Array.from(op),
    a: Int32Array.from(a),
    b: Int32Array.from(b),
    sets,
    splitOf: Int32Array.from(op, (each) => (each === Op.split ? splitCount++ : 0)),
    splitCount,
    registers,
    groupCount,
    hasReferences,
    ignoreCase: flags.includes('i'),
  }
}

class TooLarge extends Error {}

class ProgramCompiler {
  readonly op: number[] = []
  readonly a: number[] = []
  readonly b: number[] = []
  readonly sets: CharacterSet[] = []
  registers: number
  readonly #flags: string

  constructor(flags: string, registers: number) {
    this.#flags = flags
    this.registers = registers
  }

  add(op: number, a = 0, b = 0): number {
    if (this.op.length >= instructionsMax) throw new TooLarge()
    this.op.push(op)
    this.a.push(a)
    this.b.push(b)
    return this.op.length - 1
  }

  node(node: PatternNode, backwards: boolean): void {
    switch (node.kind) {
      case 'set':
        this.add(Op.set, this.sets.push(characterSet(node.text, this.#flags)) - 1, backwards ? 1 : 0)
        return
      case 'sequence':
        for (const item of backwards ? node.items.toReversed() : node.items) this.node(item, backwards)
        return
      case 'choice':
        this.#choice(node.options, backwards)
        return
      case 'group':
        this.add(Op.save, 2 * node.index + (backwards ? 1 : 0))
        this.node(node.body, backwards)
        this.add(Op.save, 2 * node.index + (backwards ? 0 : 1))
        return
      case 'look': {
        const look = this.add(Op.look, 0, node.negated ? 1 : 0)
        this.node(node.body, node.behind)
        this.add(Op.match)
        this.a[look] = this.op.length
        return
      }
      case 'reference':
        this.add(Op.reference, node.index, backwards ? 1 : 0)
        return
      case 'start':
        this.add(Op.start)
        return
      case 'boundary':
        this.add(Op.boundary, node.negated ? 1 : 0)
        return
      case 'repeat':
        this.#repeat(node, backwards)
    }
  }

  #choice(options: readonly PatternNode[], backwards: boolean): void {
    const jumps: number[] = []
    options.forEach((option, index) => {
      const split = index < options.length - 1 ? this.add(Op.split, this.op.length + 1) : null
      this.node(option, backwards)
      if (split === null) return
      jumps.push(this.add(Op.jump))
      this.b[split] = this.op.length
    })
    for (const jump of jumps) this.a[jump] = this.op.length
  }

  #repeat(node: RepeatNode, backwards: boolean): void {
    const { min, max } = node
    for (let i = 0; i < min; i++) this.#once(node, backwards)
    const splits: number[] = []
    const checksProgress = canBeEmpty(node.body)
    const register = checksProgress ? this.registers++ : 0
    if (max === Infinity) {
      const split = this.#split(node.lazy)
      this.#again(node, backwards, checksProgress ? register : null)
      this.add(Op.jump, split)
      splits.push(split)
    } else
      for (let i = min; i < max; i++) {
        splits.push(this.#split(node.lazy))
        this.#again(node, backwards, checksProgress ? register : null)
      }
    for (const split of splits) {
      if (node.lazy) this.a[split] = this.op.length
      else this.b[split] = this.op.length
    }
  }

  /** @param register null: the repetition cannot be empty */
  #again(node: RepeatNode, backwards: boolean, register: number | null): void {
    if (register !== null) this.add(Op.save, register)
    this.#once(node, backwards)
    if (register !== null) this.add(Op.progress, register)
  }

  #split(lazy: boolean): number {
    const next = this.op.length + 1
    return lazy ? this.add(Op.split, 0, next) : this.add(Op.split, next, 0)
  }

  #once({ body, groups: [from, to] }: RepeatNode, backwards: boolean): void {
    if (to > from) this.add(Op.clear, 2 * (from + 1), 2 * (to + 1))
    this.node(body, backwards)
  }
}

function canBeEmpty(node: PatternNode): boolean {
  switch (node.kind) {
    case 'set':
      return false
    case 'sequence':
      return node.items.every(canBeEmpty)
    case 'choice':
      return node.options.some(canBeEmpty)
    case 'group':
      return canBeEmpty(node.body)
    case 'repeat':
      return node.min === 0 || canBeEmpty(node.body)
    default:
      return true
  }
}
