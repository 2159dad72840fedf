/** What a checker found wrong, and which collection and documents it is about. */
export interface Finding {
  readonly sentence: string
  /** null: the whole cluster. */
  readonly ns: string | null
  /** `_id`s; empty: the whole collection. */
  readonly ids: readonly unknown[]
}

export function finding(sentence: string, ns: string | null, ...ids: readonly unknown[]): Finding {
  return { sentence, ns, ids }
}

/** For sentences about a collection. */
export const findingsOf = (ns: string | null, sentences: readonly string[]): Finding[] =>
  sentences.map((sentence) => finding(sentence, ns))
