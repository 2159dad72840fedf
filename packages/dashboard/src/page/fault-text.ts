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
  /** Which of its targets the next click replaces. */
  readonly next: number
}

export const noFault: FaultText = { text: '', optionalParts: [], next: 0 }

export function fromForm(form: string): FaultText {
  const optionalParts = [...form.matchAll(optionalPart)].map(([, part]) => part!)
  return { text: form.replace(optionalPart, ''), optionalParts, next: 0 }
}

/** The text and, alternating, the names in it. */
const wordsIn = (text: string): string[] => text.split(/([\w.-]+)/)

/** Places of the targets among the words. @param names of members and sets */
function targetsIn(words: readonly string[], names: ReadonlySet<string>): number[] {
  return words.flatMap((word, place) => (placeholders.has(word) || names.has(word) ? [place] : []))
}

/** The word that a click on a target replaces; null: it adds a part; undefined: nothing. */
export function replacedBy(
  { text, optionalParts, next }: FaultText,
  names: ReadonlySet<string>,
): string | null | undefined {
  const words = wordsIn(text)
  const places = targetsIn(words, names)
  if (places.length > 0) return words[places[next % places.length]!]!
  return optionalParts.some((part) => optionalTarget.test(part)) ? null : undefined
}

export function withTarget(fault: FaultText, name: string, names: ReadonlySet<string>): FaultText {
  const { text, optionalParts, next } = fault
  const words = wordsIn(text)
  const places = targetsIn(words, names)
  if (places.length === 0) {
    const part = optionalParts.find((each) => optionalTarget.test(each))
    return part === undefined ? fault : { ...fault, text: `${text} ${part.split(' ')[0]!} ${name}` }
  }
  const present = next % places.length
  return { ...fault, text: words.with(places[present]!, name).join(''), next: (present + 1) % places.length }
}
