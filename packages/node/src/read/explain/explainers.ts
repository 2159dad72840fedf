/** Manual: reference/command/explain. */
import { explainAggregate } from './explain-aggregate.js'
import { explainCount } from './explain-count.js'
import { explainDistinct } from './explain-distinct.js'
import { explainFind } from './explain-find.js'
import { explainFindAndModify, explainUpdate, explainDelete } from './explain-write.js'
import type { Explainer } from './explainer.js'

const explainers: ReadonlyMap<string, Explainer> = new Map<string, Explainer>([
  ['aggregate', { explain: explainAggregate }],
  ['count', { explain: explainCount }],
  ['delete', { explain: explainDelete }],
  ['distinct', { explain: explainDistinct }],
  ['find', { explain: explainFind }],
  ['findAndModify', { explain: explainFindAndModify }],
  ['findandmodify', { explain: explainFindAndModify }],
  ['update', { explain: explainUpdate }],
])

/** @param name one of {@link explainableFields} */
export function explainerOf(name: string): Explainer {
  return explainers.get(name)!
}
