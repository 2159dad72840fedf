/** The text of a fault, whose targets clicks replace one after the other. */

/** Names in the forms of faults that stand for targets. The cluster may have no such members. */
const placeholders: ReadonlySet<string> = new Set(['shard01', 'shard02', 'mongos01'])

/** A form shows its optional parts in brackets, which are no part of a fault. */
const optionalPart = / ?\[([^\]]*)\]/g
/** An optional part that names a member, such as `on shard01`. */
const optionalTarget = /^(on|from) \w+$/

export interface FaultText {
  readonly text: string
  /** Of the chosen form. */
  readonly optionalParts: readonly string[]
  /** Words of the form itself, such as `config` in `config unavailable`. */
  readonly formWords: ReadonlySet<string>
  /** Which of its targets the next click replaces; after the last one, a click may add a part. */
  readonly next: number
}

export const noFault: FaultText = { text: '', optionalParts: [], formWords: new Set(), next: 0 }

export function fromForm(form: string): FaultText {
  const optionalParts = [...form.matchAll(optionalPart)].map(([, part]) => part!)
  const text = form.replace(optionalPart, '')
  const formWords = new Set(wordsIn(text).filter((word) => !placeholders.has(word)))
  return { text, optionalParts, formWords, next: 0 }
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
  const addable = optionalParts.find((part) => optionalTarget.test(part) && !words.includes(part.split(' ')[0]!))
  const choices = places.length + (addable === undefined ? 0 : 1)
  return { words, places, addable, place: choices === 0 ? undefined : places[next % choices] }
}

/** The word that a click on a target replaces; null: it adds a part; undefined: nothing. */
export function replacedBy(fault: FaultText, names: ReadonlySet<string>): string | null | undefined {
  const { words, addable, place } = targetsIn(fault, names)
  if (place !== undefined) return words[place]!
  return addable === undefined ? undefined : null
}

export function withTarget(fault: FaultText, name: string, names: ReadonlySet<string>): FaultText {
  const { words, places, addable, place } = targetsIn(fault, names)
  if (place !== undefined) return { ...fault, text: words.with(place, name).join(''), next: places.indexOf(place) + 1 }
  return addable === undefined ? fault : { ...fault, text: `${fault.text} ${addable.split(' ')[0]!} ${name}`, next: 0 }
}
