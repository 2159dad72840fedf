/**
 * The query language by release: which operators, stages and forms exist, and the rules that
 * changed. Parsers ask it, so that evaluation does not depend on the release. No other code of this
 * package compares releases.
 */
import { commandFields } from './features/fields.js'
import { expressionOperators, systemVariables } from './features/expressions.js'
import { compareReleases, historiesOf, isPresentIn, type FeatureGroup } from './feature-group.js'
import { filterOperators } from './features/filters.js'
import { forms } from './features/forms.js'
import { accumulators, stages, windowFunctions } from './features/stages.js'
import { updateOperators } from './features/updates.js'
import { indexFeatures } from './features/indexes.js'
import { languageRules, type LanguageRules } from './rules.js'

export const languageFeatures = {
  filter: filterOperators,
  update: updateOperators,
  stage: stages,
  expression: expressionOperators,
  accumulator: accumulators,
  window: windowFunctions,
  variable: systemVariables,
  form: forms,
  field: commandFields,
  index: indexFeatures,
} as const satisfies Record<string, FeatureGroup>

export type FeatureKind = keyof typeof languageFeatures

export interface Language extends LanguageRules {
  /** @throws Error for a feature that is not in the table */
  has(kind: FeatureKind, name: string): boolean
  /** A field that is not in the table is as old as its command. */
  hasField(owner: string, name: string): boolean
  /** An option that is not in the table is as old as indexes. */
  hasIndexOption(name: string): boolean
}

const languages = new Map<string, Language>()

/** @param release of the server, such as 4.4.29 */
export function languageOf(release: string): Language {
  let language = languages.get(release)
  if (language === undefined) languages.set(release, (language = build(release)))
  return language
}

/** Of contexts that name none. */
export const newestLanguage: Language = languageOf('99.0')

function build(release: string): Language {
  const present = new Map<FeatureKind, ReadonlyMap<string, boolean>>()
  for (const [kind, group] of Object.entries(languageFeatures))
    present.set(
      kind as FeatureKind,
      new Map([...historiesOf(group)].map(([name, history]) => [name, isPresentIn(history, release)])),
    )
  const rules: Record<string, unknown> = {}
  for (const [name, { values }] of Object.entries(languageRules))
    rules[name] = values.findLast(([from]) => compareReleases(from, release) <= 0)![1]
  return {
    ...(rules as LanguageRules),
    has(kind, name) {
      const answer = present.get(kind)!.get(name)
      if (answer === undefined) throw new Error(`the table of the query language lacks the ${kind} ${name}`)
      return answer
    },
    hasIndexOption: (name) => present.get('index')!.get(name) ?? true,
    hasField: (owner, name) => present.get('field')!.get(`${owner}.${name}`) ?? true,
  }
}
