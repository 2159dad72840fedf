/** The text of a fault, whose targets clicks replace one after the other. */

/** Names in the forms of faults that stand for targets. The cluster may have no such members. */
const placeholders: ReadonlySet<string> = new Set(['shard01', 'shard02', 'mongos01'])

/** A form shows its optional parts in brackets, which are no part of a fault. */
const optionalPart = / ?\[([^\]]*)\]/g
/** Where what can follow any fault begins. */
const suffix = / (one way|only|first|with probability|seed|after|for)\b.*$/
/** An optional part that names a member, such as `on shard01`. */
const optionalTarget = /^(on|from) \w+$/

export interface FaultText {
  readonly text: string
  /** The chosen one, with its optional parts. */
  readonly form: string
  /** Of the chosen form. */
  readonly optionalParts: readonly string[]
  /** Words of the form itself, such as `config` in `config unavailable`. */
  readonly formWords: ReadonlySet<string>
  /** Which of its targets the next click replaces; after the last one, a click may add a part. */
  readonly next: number
}

export const noFault: FaultText = { text: '', form: '', optionalParts: [], formWords: new Set(), next: 0 }

export function fromForm(form: string): FaultText {
  const optionalParts = [...form.matchAll(optionalPart)].map(([, part]) => part!)
  const text = form.replace(optionalPart, '')
  const formWords = new Set(wordsIn(text).filter((word) => !placeholders.has(word)))
  return { text, form, optionalParts, formWords, next: 0 }
}

/** The text and, alternating, the names in it. */
const wordsIn = (text: string): string[] => text.split(/([\w.-]+)/)

interface Targets {
  readonly words: readonly string[]
  /** Of the targets among the words. */
  readonly places: readonly number[]
  /** An optional part with a target that the text does not have yet. */
  readonly addable: string | undefined
  /** The place that the next click replaces; undefined: it adds a part, if there is one. */
  readonly place: number | undefined
}

/** @param names of members and sets */
function targetsIn({ text, optionalParts, formWords, next }: FaultText, names: ReadonlySet<string>): Targets {
  const words = wordsIn(text)
  const isTarget = (word: string): boolean => placeholders.has(word) || (names.has(word) && !formWords.has(word))
  const places = words.flatMap((word, place) => (isTarget(word) ? [place] : []))
  const addable = optionalParts.find((part) => optionalTarget.test(part) && !words.includes(wordOf(part)))
  const choices = places.length + (addable === undefined ? 0 : 1)
  return { words, places, addable, place: choices === 0 ? undefined : places[next % choices] }
}

/** What the next click on a target does, as a sentence; undefined: nothing. */
export function effectOfClick(fault: FaultText, names: ReadonlySet<string>): string | undefined {
  const { words, addable, place } = targetsIn(fault, names)
  if (place !== undefined) return `The next click replaces ${words[place]!}.`
  return addable === undefined ? undefined : `The next click adds “${wordOf(addable)} …”.`
}

/** Such as `from`. */
const wordOf = (part: string): string => part.split(' ')[0]!

export function withTarget(fault: FaultText, name: string, names: ReadonlySet<string>): FaultText {
  const { words, places, addable, place } = targetsIn(fault, names)
  const present = places.find((each) => words[each] === name)
  // No link has the same member at both ends.
  if (present !== undefined && places.length > 1)
    return { ...fault, next: places.findIndex((each) => each !== present) }
  if (place !== undefined) return { ...fault, text: words.with(place, name).join(''), next: places.indexOf(place) + 1 }
  if (addable === undefined || present !== undefined) return fault
  const { text } = fault
  const [rest = ''] = suffix.exec(text) ?? []
  return { ...fault, text: `${text.slice(0, text.length - rest.length)} ${wordOf(addable)} ${name}${rest}`, next: 0 }
}
