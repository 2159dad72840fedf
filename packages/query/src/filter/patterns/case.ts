/**
 * For patterns of which only a part ignores case: JavaScript's flag applies to the whole pattern.
 */
import { literal } from './sets.js'

/** Only characters in these ranges have another case. */
const casedRanges = [
  [0x41, 0x2fff],
  [0xa640, 0xabff],
  [0xfb00, 0xffff],
  [0x10400, 0x10fff],
  [0x118a0, 0x118df],
  [0x16e40, 0x16eff],
  [0x1e900, 0x1e943],
] as const
/** Its upper case is that of another letter, but it folds to itself. */
const dotlessI = '\u0131'

/** For each character, those that differ from it in case only. Computed on first use. */
let equalCharacters: ReadonlyMap<number, readonly number[]> | null = null

/** Adds the characters that differ in case only to `[…]` or `[^…]`. */
export function foldedClass(text: string): string {
  const negated = text.startsWith('[^')
  const inside = text.slice(negated ? 2 : 1, -1)
  const plain = new RegExp(`[${inside}]`, 'u')
  const added = new Set<number>()
  equalCharacters ??= findEqualCharacters()
  for (const [character, others] of equalCharacters)
    if (plain.test(String.fromCodePoint(character))) for (const other of others) added.add(other)
  return `[${negated ? '^' : ''}${[...added].map(literal).join('')}${inside}]`
}

function findEqualCharacters(): Map<number, number[]> {
  const groups = new Map<string, number[]>()
  for (const [low, high] of casedRanges) {
    for (let character = low; character <= high; character++) {
      const fold = foldOf(String.fromCodePoint(character))
      const group = groups.get(fold)
      if (group === undefined) groups.set(fold, [character])
      else group.push(character)
    }
  }
  const equal = new Map<number, number[]>()
  for (const group of groups.values()) {
    if (group.length === 1) continue
    for (const character of group)
      equal.set(
        character,
        group.filter((other) => other !== character),
      )
  }
  return equal
}

/** Simple case folding: each character folds to one character. */
function foldOf(text: string): string {
  if (text === dotlessI) return text
  const upper = text.toUpperCase()
  const lower = ([...upper].length === 1 ? upper : text).toLowerCase()
  return [...lower].length === 1 ? lower : text
}
