/**
 * Comparisons of strings, level by level, out of the platform's ICU. `Intl.Collator` knows ICU's levels 1 to 3; what it has no option for is
 * put together from several of them: levels 4 and 5, `backwards`, `maxVariable: "space"` and `caseLevel` beside level 2 or 3.
 */
import type { StringComparator } from '@shardlab/bson'
import { languageTag, type CollationLocale } from './locales.js'

export interface CollatorOptions {
  readonly locale: CollationLocale
  readonly caseLevel: boolean
  readonly caseFirst: string
  readonly strength: number
  readonly numericOrdering: boolean
  readonly alternate: string
  readonly maxVariable: string
  readonly backwards: boolean
}

type Sensitivity = 'base' | 'accent' | 'case' | 'variant'

/** Collators take long to make, and the same few serve all commands. */
const made = new Map<string, StringComparator>()
const keptAtMost = 256

export function collator(options: CollatorOptions): StringComparator {
  const key = JSON.stringify(options)
  let compare = made.get(key)
  if (compare === undefined) {
    compare = build(options)
    if (made.size >= keptAtMost) made.clear()
    made.set(key, compare)
  }
  return compare
}

function build(options: CollatorOptions): StringComparator {
  const shifted = options.alternate === 'shifted'
  // Only `punct` has a switch of its own: under `space` the spaces are taken away and the rest counts.
  const spaceOnly = shifted && options.maxVariable === 'space'
  const level = (sensitivity: Sensitivity, ignoring = shifted && !spaceOnly) =>
    intlCollator(options, sensitivity, ignoring)
  const { strength, caseLevel } = options
  const levels: StringComparator[] = []
  if (options.backwards) levels.push(level('base'), backwards(level('accent')))
  if (strength === 1) levels.push(level(caseLevel ? 'case' : 'base'))
  else {
    if (strength === 2 || caseLevel) levels.push(level('accent'))
    if (caseLevel) levels.push(level('case'))
    if (strength > 2) levels.push(level('variant'))
  }
  const ordered = spaceOnly ? withoutSpaces(inTurn(levels)) : inTurn(levels)
  const last: StringComparator[] = []
  // What was passed over decides at last, by its place: characters that are ignored come before all others.
  if (strength > 3 && shifted) last.push(level('base', false))
  if (strength === 5) last.push(byCodePoints)
  return last.length === 0 ? ordered : inTurn([ordered, ...last])
}

function intlCollator(
  options: CollatorOptions,
  sensitivity: Sensitivity,
  ignorePunctuation: boolean,
): StringComparator {
  const { locale, caseFirst } = options
  // The rules of fr-CA hold the order of accents from the end; it is added where it is wanted.
  const tag = languageTag(locale.name === 'fr_CA' ? { ...locale, name: 'fr' } : locale)
  return new Intl.Collator(tag, {
    sensitivity,
    ignorePunctuation,
    numeric: options.numericOrdering,
    usage: locale.variant === 'search' ? 'search' : 'sort',
    caseFirst: caseFirst === 'off' ? 'false' : (caseFirst as 'upper' | 'lower'),
  }).compare
}

function inTurn(levels: readonly StringComparator[]): StringComparator {
  if (levels.length === 1) return levels[0]!
  return (a, b) => {
    for (let i = 0; i < levels.length; i++) {
      const order = levels[i]!(a, b)
      if (order !== 0) return order
    }
    return 0
  }
}

/** Characters with their accents, the last one first. */
function backwards(compare: StringComparator): StringComparator {
  const reversed = (text: string) => (text.normalize('NFD').match(/\P{M}\p{M}*|\p{M}+/gu) ?? []).toReversed().join('')
  return (a, b) => compare(reversed(a), reversed(b))
}

function withoutSpaces(compare: StringComparator): StringComparator {
  const stripped = (text: string) => text.replace(/\p{White_Space}/gu, '')
  return (a, b) => compare(stripped(a), stripped(b))
}

function byCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a.normalize('NFD')), Buffer.from(b.normalize('NFD')))
}
