/**
 * `Intl.Collator` has levels 1 to 3. The other features combine several collators: levels 4 and 5,
 * `backwards`, `maxVariable: "space"`, and `caseLevel` with level 2 or 3.
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

/** Creating a collator is slow, and commands repeat the same few. */
const cache = new Map<string, StringComparator>()
const maxCached = 256

export function collator(options: CollatorOptions): StringComparator {
  const key = JSON.stringify(options)
  let compare = cache.get(key)
  if (compare === undefined) {
    compare = build(options)
    if (cache.size >= maxCached) cache.clear()
    cache.set(key, compare)
  }
  return compare
}

function build(options: CollatorOptions): StringComparator {
  const shifted = options.alternate === 'shifted'
  // `Intl.Collator` can only ignore `punct`. For `space`, remove the spaces before the comparison.
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
  // Ignored characters are compared last, by position: they sort before all others.
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
  // The rules of fr-CA include the backward order of accents; add it only where it is requested.
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

/** Compares the characters with their accents from the last to the first. */
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
