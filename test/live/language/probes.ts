/** For each feature of the query language, a command that uses it, and the error without it. */
import type { Document } from '@shardlab/bson'
import { historiesOf, languageFeatures, type FeatureKind, type Language } from '@shardlab/query'
import { fieldProbe } from './field-probes.js'
import { formProbes } from './form-probes.js'
import type { Probe, Refusal } from './probe.js'

const escaped = (text: string) => text.replaceAll(/[$.*+?()[\]{}|\\^]/g, String.raw`\$&`)

const pipeline = (...stages: Document[]): Document => ({ aggregate: 'c', pipeline: stages, cursor: {} })

const rootOperators = new Set([
  '$and',
  '$or',
  '$nor',
  '$comment',
  '$expr',
  '$jsonSchema',
  '$where',
  '$sampleRate',
  '$text',
  '$alwaysTrue',
  '$alwaysFalse',
  '$isolated',
  '$atomic',
])

function filterProbe(name: string): Probe {
  const isRoot = rootOperators.has(name)
  return {
    command: { find: 'c', filter: isRoot ? { [name]: 1 } : { a: { [name]: 1 } } },
    refusal({ filterErrors }) {
      const text = `unknown ${isRoot ? 'top level ' : ''}operator: ${escaped(name)}`
      return filterErrors === 'plain'
        ? { code: 2, message: new RegExp(`^${text}`) }
        : { code: 17287, message: new RegExp(`^Can't canonicalize query: BadValue ${text}$`) }
    },
  }
}

const unknownStage = (name: string, { unknownStageCode: code }: Language): Refusal => ({
  code,
  message: new RegExp(`^Unrecognized pipeline stage name: '${escaped(name)}'$`),
})

const probeOf: Readonly<Record<Exclude<FeatureKind, 'form' | 'field' | 'index'>, (name: string) => Probe>> = {
  filter: filterProbe,
  update: (name) => ({
    command: { update: 'c', updates: [{ q: {}, u: { [name]: { a: 1 } } }] },
    refusal: () => ({ code: 9, message: new RegExp(`^Unknown modifier: ${escaped(name)}(\\.|$)`) }),
  }),
  stage: (name) => ({
    command: pipeline({ [name]: {} }),
    refusal: (language) => unknownStage(name, language),
  }),
  expression: (name) => ({
    command: pipeline({ $group: { _id: { [name]: '$a' } } }),
    refusal({ unknownExpression: [code, text] }) {
      return { code, message: new RegExp(`${text} '${escaped(name)}'$`) }
    },
  }),
  accumulator: (name) => ({
    command: pipeline({ $group: { _id: null, v: { [name]: '$a' } } }),
    refusal: () => ({ code: 15952, message: new RegExp(`^unknown group operator '${escaped(name)}'$`) }),
  }),
  window: (name) => ({
    command: pipeline({ $setWindowFields: { sortBy: { a: 1 }, output: { v: { [name]: '$a' } } } }),
    refusal: (language) =>
      language.has('stage', '$setWindowFields')
        ? { code: 9, message: new RegExp(`^Unrecognized window function, ${escaped(name)}$`) }
        : unknownStage('$setWindowFields', language),
  }),
  variable: (name) => ({
    command: pipeline({ $project: { v: `$$${name}` } }),
    refusal: () => ({ code: 17276, message: new RegExp(`Use of undefined variable: ${name}$`) }),
  }),
}

export interface FeatureProbe extends Probe {
  readonly kind: FeatureKind
  readonly name: string
}

export function allProbes(): FeatureProbe[] {
  return Object.entries(languageFeatures).flatMap(([kind, group]) =>
    [...historiesOf(group).keys()].map((name) => ({
      kind: kind as FeatureKind,
      name,
      ...probeFor(kind as FeatureKind, name),
    })),
  )
}

function probeFor(kind: FeatureKind, name: string): Probe {
  if (kind === 'field') return fieldProbe(name)
  if (kind === 'form' || kind === 'index') {
    const probe = formProbes.get(`${kind} ${name}`)
    if (probe === undefined) throw new Error(`no probe for the ${kind} ${name}`)
    return probe
  }
  return probeOf[kind](name)
}
