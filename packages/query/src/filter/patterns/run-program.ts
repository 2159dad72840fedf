/**
 * Matches as JavaScript does, and always ends. Without back references, no split is tried twice at
 * the same position, so the effort is linear; otherwise it ends at a limit, as PCRE's does. The end
 * of a match can then differ from JavaScript's for a loop whose repetitions can be empty.
 */
import { isStart, type NextCharacters } from './backtracking-cost.js'
import { Op, type Program } from './program.js'

/** Takes about a tenth of a second. Server: the match limit of PCRE. */
export const stepsMax = 1_000_000
const stepsBetweenChecks = 65_536
/** Largest memory of tried splits; longer texts are matched under the limit of steps. */
const triedBytesMax = 64 * 1024 * 1024

/** The match limit was reached. */
export const limitReached = Symbol('limit')

class MatchLimitReached extends Error {}

const unset = -1
/** Register changes on the stack are marked by a negative instruction. */
const marker = (register: number) => -1 - register

let tried = new Uint8Array(4096)

/**
 * @param starts with which a match can begin; null: any
 * @returns the registers; null: no match
 */
export function runProgram(
  program: Program,
  text: string,
  from: number,
  starts: NextCharacters | null,
  checkForInterrupt?: () => void,
): Int32Array | null | typeof limitReached {
  return new Run(program, text, checkForInterrupt).search(from, starts)
}

class Run {
  readonly #program: Program
  readonly #text: string
  readonly #registers: Int32Array
  readonly #checkForInterrupt: (() => void) | undefined
  readonly #remembers: boolean
  /** Pairs of an instruction and a position, or of a marked register and its value before. */
  #stack = new Int32Array(256)
  #top = 0
  #limitedSteps = 0
  /** Since the last check for interrupts. */
  #steps = 0

  constructor(program: Program, text: string, checkForInterrupt: (() => void) | undefined) {
    this.#program = program
    this.#text = text
    this.#checkForInterrupt = checkForInterrupt
    this.#registers = new Int32Array(program.registers).fill(unset)
    const bytes = Math.ceil((program.splitCount * (text.length + 1)) / 8)
    this.#remembers = !program.hasReferences && bytes <= triedBytesMax
    if (!this.#remembers) return
    if (tried.length < bytes) tried = new Uint8Array(Math.max(bytes, 2 * tried.length))
    else tried.fill(0, 0, bytes)
  }

  search(from: number, starts: NextCharacters | null): Int32Array | null | typeof limitReached {
    const text = this.#text
    // The first instruction stores the start of the match.
    const last = this.#program.op[1] === Op.start ? 0 : text.length
    try {
      for (let start = from; start <= last; start += characterAt(text, start) > 0xffff ? 2 : 1) {
        if (starts !== null && (start === text.length || !isStart(starts, text.charCodeAt(start)))) continue
        if (this.#run(0, start, this.#remembers) >= 0) return this.#registers
      }
      return null
    } catch (error) {
      if (error instanceof MatchLimitReached) return limitReached
      throw error
    } finally {
      if (tried.length > 1024 * 1024) tried = new Uint8Array(4096)
    }
  }

  /** Returns the position of the end, or -1. */
  #run(first: number, start: number, remembers: boolean): number {
    const { op, a, b, sets, splitOf } = this.#program
    const text = this.#text
    const registers = this.#registers
    const bottom = this.#top
    let pc = first
    let at = start
    for (;;) {
      let fails = false
      switch (op[pc]) {
        case Op.set: {
          const character = b[pc] === 1 ? characterBefore(text, at) : characterAt(text, at)
          if (character < 0 || !sets[a[pc]!]!.has(character)) fails = true
          else {
            const width = character > 0xffff ? 2 : 1
            at += b[pc] === 1 ? -width : width
            pc++
          }
          break
        }
        case Op.split:
          if (remembers) {
            const state = splitOf[pc]! * (text.length + 1) + at
            const bit = 1 << (state & 7)
            if ((tried[state >>> 3]! & bit) !== 0) {
              fails = true
              break
            }
            tried[state >>> 3]! |= bit
          }
          this.#step(remembers)
          this.#push(b[pc]!, at)
          pc = a[pc]!
          break
        case Op.jump:
          pc = a[pc]!
          break
        case Op.save:
          this.#set(a[pc]!, at)
          pc++
          break
        case Op.clear:
          for (let register = a[pc]!; register < b[pc]!; register++)
            if (registers[register] !== unset) this.#set(register, unset)
          pc++
          break
        case Op.progress:
          if (registers[a[pc]!] === at) fails = true
          else pc++
          break
        case Op.start:
          if (at !== 0) fails = true
          else pc++
          break
        case Op.boundary:
          if ((this.#isWord(at - 1) !== this.#isWord(at)) === (a[pc] === 1)) fails = true
          else pc++
          break
        case Op.look: {
          const top = this.#top
          const matches = this.#run(pc + 1, at, false) >= 0
          // Groups that an assertion has set stay set; the other ways through it are not tried.
          if (!matches || b[pc] === 1) this.#undo(top)
          else this.#keepRegisters(top)
          if (matches === (b[pc] === 1)) fails = true
          else pc = a[pc]!
          break
        }
        case Op.reference: {
          const end = this.#reference(a[pc]!, at, b[pc] === 1)
          if (end < 0) fails = true
          else {
            at = end
            pc++
          }
          break
        }
        default:
          return at
      }
      if (!fails) continue
      for (;;) {
        if (this.#top === bottom) return -1
        const value = this.#stack[--this.#top]!
        const instruction = this.#stack[--this.#top]!
        if (instruction >= 0) {
          pc = instruction
          at = value
          break
        }
        registers[-1 - instruction] = value
      }
    }
  }

  #step(remembers: boolean): void {
    if (!remembers && ++this.#limitedSteps > stepsMax) throw new MatchLimitReached()
    if (++this.#steps < stepsBetweenChecks) return
    this.#steps = 0
    this.#checkForInterrupt?.()
  }

  #push(instruction: number, value: number): void {
    if (this.#top + 2 > this.#stack.length) {
      const grown = new Int32Array(2 * this.#stack.length)
      grown.set(this.#stack)
      this.#stack = grown
    }
    this.#stack[this.#top++] = instruction
    this.#stack[this.#top++] = value
  }

  #set(register: number, value: number): void {
    this.#push(marker(register), this.#registers[register]!)
    this.#registers[register] = value
  }

  #undo(top: number): void {
    while (this.#top > top) {
      const value = this.#stack[--this.#top]!
      const instruction = this.#stack[--this.#top]!
      if (instruction < 0) this.#registers[-1 - instruction] = value
    }
  }

  #keepRegisters(top: number): void {
    let kept = top
    for (let i = top; i < this.#top; i += 2) {
      if (this.#stack[i]! >= 0) continue
      this.#stack[kept++] = this.#stack[i]!
      this.#stack[kept++] = this.#stack[i + 1]!
    }
    this.#top = kept
  }

  #isWord(at: number): boolean {
    const character = this.#text.charCodeAt(at)
    return (
      (character >= 0x61 && character <= 0x7a) ||
      (character >= 0x41 && character <= 0x5a) ||
      (character >= 0x30 && character <= 0x39) ||
      character === 0x5f ||
      // Under the flags i and u these are word characters, too: they fold to s and k.
      (this.#program.ignoreCase && (character === 0x17f || character === 0x212a))
    )
  }

  #reference(group: number, at: number, backwards: boolean): number {
    const from = this.#registers[2 * group]!
    const to = this.#registers[2 * group + 1]!
    if (from < 0 || to < 0) return at
    const length = to - from
    const start = backwards ? at - length : at
    if (start < 0 || start + length > this.#text.length) return -1
    const wanted = this.#text.slice(from, to)
    const found = this.#text.slice(start, start + length)
    const equal = wanted === found || (this.#program.ignoreCase && equalIgnoringCase(wanted, found))
    return equal ? (backwards ? start : start + length) : -1
  }
}

function equalIgnoringCase(wanted: string, found: string): boolean {
  const literals = Array.from(wanted, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
  return new RegExp(`^${literals.join('')}$`, 'iu').test(found)
}

function characterAt(text: string, at: number): number {
  if (at >= text.length) return -1
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit <= 0xdbff ? text.codePointAt(at)! : unit
}

function characterBefore(text: string, at: number): number {
  if (at <= 0) return -1
  const unit = text.charCodeAt(at - 1)
  if (unit < 0xdc00 || unit > 0xdfff || at < 2) return unit
  const whole = text.codePointAt(at - 2)!
  return whole > 0xffff ? whole : unit
}
